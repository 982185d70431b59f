//! A writer of SoundFont files, sound or as broken as asked for.

pub(crate) mod file;
mod tables;

pub(crate) use tables::{ModulatorRecord, Tables};
