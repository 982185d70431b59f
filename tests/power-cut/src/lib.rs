//! A disk that forgets what was not synced.
//!
//! The page cache of an operating system survives a program that is killed, so killing shows
//! nothing of what a power cut would take. This crate does what POSIX allows a power cut to do, at
//! its worst: of a file remains what it held when it was last synced, and of a folder the names
//! that it had when the folder was.
//!
//! Its shared library, loaded before a program by `LD_PRELOAD`, stands in for `fsync` and
//! `fdatasync` ([`preload`]): each copies what it syncs to an image beside the folder. When the
//! program has been killed, [`Disk::restore`] makes a folder of what is in the image.

mod disk;
pub mod preload;

pub use disk::Disk;
