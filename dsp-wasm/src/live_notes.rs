//! The keys that the user holds down.

/// Maximum number of keys; further keys are not recorded.
const MAX_NOTES: usize = 128;

/// A key that the user holds down.
pub(crate) struct LiveNote {
    pub(crate) track_id: String,
    pub(crate) key: u8,
    pub(crate) velocity: u8,
}

/// The keys that the user holds down, on all tracks.
#[derive(Default)]
pub(crate) struct LiveNotes {
    notes: Vec<LiveNote>,
}

impl LiveNotes {
    pub(crate) fn press(&mut self, track_id: &str, key: u8, velocity: u8) {
        self.release(track_id, key);
        if self.notes.len() < MAX_NOTES {
            self.notes.push(LiveNote { track_id: track_id.to_owned(), key, velocity });
        }
    }

    pub(crate) fn release(&mut self, track_id: &str, key: u8) {
        self.notes.retain(|note| note.key != key || note.track_id != track_id);
    }

    pub(crate) fn release_all(&mut self) {
        self.notes.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LiveNote> {
        self.notes.iter()
    }
}
