//! Tests of the program as a process, which they start, query, kill and restart.

mod admin;
mod audio;
mod backup;
mod crowd;
mod database;
mod durability;
mod event_streams;
mod exported_files;
mod full_disk;
mod heavy_work;
mod held_memory;
mod https;
mod json_memory;
mod local_trust;
mod made_banks;
mod nginx;
mod other_database;
mod ownership;
mod plugins;
mod proxies;
mod render;
mod render_options;
mod slow_clients;
mod small_disk;
mod start_and_stop;
mod support;
