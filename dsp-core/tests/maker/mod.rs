//! Writes SoundFont files for tests, valid or broken.

pub(crate) mod file;
mod tables;

pub(crate) use tables::{ModulatorRecord, Tables};
