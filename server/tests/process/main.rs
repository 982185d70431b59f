//! The program as a process: started, asked, killed, started again.

mod admin;
mod audio;
mod backup;
mod crowd;
mod database;
mod durability;
mod full_disk;
mod https;
mod json_memory;
mod render;
mod slow_clients;
mod small_disk;
mod start_and_stop;
mod support;
