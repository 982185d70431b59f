//! A simulated disk that loses everything that was not synced.
//!
//! The page cache of an operating system survives a killed program, so killing does not simulate a
//! power cut. This crate simulates the worst case that POSIX allows: only the synced contents of a
//! file and the synced names in a folder survive.
//!
//! `LD_PRELOAD` loads the shared library before a program. The library replaces `fsync` and
//! `fdatasync` ([`preload`]): each copies the synced data to an image beside the folder. After the
//! program was killed, [`Disk::restore`] creates a folder from the image.

mod disk;
pub mod preload;

pub use disk::Disk;
