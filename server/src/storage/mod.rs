//! Stores files ([`Blobs`]), receives uploads, and enforces quotas of users and the disk reserve.
//!
//! This slice does not depend on any other slice. The slices that store files for users pass
//! functions to [`Storage`], which count their bytes and remove deleted files.

mod blobs;
mod contents;
mod document_quota;
mod hash;
mod quota;
mod receive;
mod room;
mod room_checked;

pub use blobs::{
    BadBlobId, BlobKey, BlobWriter, Blobs, Entry, ExpectedFile, FileKind, Orphan, QuarantineReason,
    QuarantinedFile, Remote, Sharing, write_private_file,
};
use contents::ContentsLock;
pub(crate) use contents::lock_contents;
pub(crate) use document_quota::{DocumentBytes, DocumentQuota};
pub(crate) use hash::{hash_file, sha256_of, sha256_of_json};
pub(crate) use quota::{Allowance, UsedBytes, read_individual_quotas, set_quota};
pub(crate) use receive::{
    Destination, FORM_EXTRA_BYTES, FileReceiver, ReceivedFile, clean_name, receive_field,
};
pub(crate) use room::{
    MakeRoom, deleted_in_quarantine, ensure_room, has_room, is_disk_full, quarantine_deleted, with_room,
};
pub(crate) use room_checked::RoomChecked;

/// Quotas of users, and free disk space for their files.
#[derive(Debug)]
pub struct Storage {
    /// One function of each slice that stores files for users. The sum of their results counts
    /// towards the quota.
    used_bytes_of: &'static [UsedBytes],
    /// Removes all deleted files. It is called when the disk is full.
    make_room: MakeRoom,
    contents: ContentsLock,
}

impl Storage {
    /// Makes the storage. `used_bytes_of` has one function of each slice that stores files for
    /// users.
    pub(crate) fn new(used_bytes_of: &'static [UsedBytes], make_room: MakeRoom) -> Self {
        Self { used_bytes_of, make_room, contents: ContentsLock::default() }
    }
}
