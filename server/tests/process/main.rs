//! The program as a process: started, asked, killed, started again.

mod admin;
mod audio;
mod database;
mod durability;
mod https;
mod render;
mod slow_clients;
mod start_and_stop;
mod support;
