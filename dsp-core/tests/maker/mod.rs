//! A writer of SoundFont files, sound or as broken as asked for.

mod file;
mod tables;

pub(crate) use file::{Chunk, File, List};
pub(crate) use tables::{ModulatorRecord, Tables};
