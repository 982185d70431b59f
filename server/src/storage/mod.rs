//! Stored files: where they lie ([`Blobs`]), how uploaded bytes get there, and how much room users
//! and the disk have for them.
//!
//! This slice knows no other slice. The slices that store files for users tell [`Storage`] how much
//! they have stored, and how deleted files make room.

mod blobs;
mod contents;
mod document_quota;
mod hash;
mod quota;
mod receive;
mod room;
mod room_checked;

pub use blobs::{
    BadBlobId, BlobKey, BlobWriter, Blobs, Entry, Expected, FileKind, Orphan, Quarantined, Reason, Remote,
    Sharing, write_private_file,
};
use contents::Contents;
pub(crate) use contents::lock_contents;
pub(crate) use document_quota::{DocumentBytes, DocumentQuota};
pub(crate) use hash::file_sha256;
pub(crate) use quota::{Allowance, UsedBytes, own_quotas, set_quota};
pub(crate) use receive::{
    Destination, FORM_EXTRA_BYTES, Received, Receiving, clean_name, form_error, receive_field,
};
pub(crate) use room::{
    MakeRoom, deleted_in_quarantine, ensure_room, has_room, is_disk_full, quarantine_deleted, with_room,
};
pub(crate) use room_checked::RoomChecked;

/// Quotas, and room for what users store.
#[derive(Debug)]
pub struct Storage {
    /// How much each slice has stored for a user; the sum counts towards the quota.
    counted: &'static [UsedBytes],
    /// Removes deleted files where the disk needs their room.
    make_room: MakeRoom,
    contents: Contents,
}

impl Storage {
    /// `counted` are the slices that store files for users; `make_room` removes deleted ones.
    pub(crate) fn new(counted: &'static [UsedBytes], make_room: MakeRoom) -> Self {
        Self { counted, make_room, contents: Contents::default() }
    }
}
