//! The program as a process: started, asked, killed, started again.

mod admin;
mod audio;
mod crowd;
mod database;
mod durability;
mod render;
mod start_and_stop;
mod support;
