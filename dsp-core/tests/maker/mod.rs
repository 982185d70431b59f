//! A writer of SoundFont files, valid or broken.

pub(crate) mod file;
mod tables;

pub(crate) use tables::{ModulatorRecord, Tables};
