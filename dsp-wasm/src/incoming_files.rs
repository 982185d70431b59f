//! Files that arrive in pieces. Copying a small piece does not interrupt playback.

use wasm_bindgen::JsError;

/// Unfinished files of one kind, at most one for each slot.
pub(crate) struct IncomingFiles {
    /// Name of the kind in error messages, such as `the SoundFont`.
    kind: &'static str,
    files: Vec<IncomingFile>,
}

struct IncomingFile {
    slot: usize,
    size_bytes: usize,
    bytes: Vec<u8>,
}

impl IncomingFiles {
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, files: Vec::new() }
    }

    /// Allocates memory for a file of `size_bytes` bytes. Replaces an unfinished file for the slot.
    ///
    /// # Errors
    ///
    /// Returns a message if there is not enough memory.
    pub(crate) fn begin(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        self.remove(slot);
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size_bytes).is_err() {
            let kind = self.kind;
            let detail =
                format!("there is not enough memory for {kind} of {size_bytes} bytes for slot {slot}");
            return Err(JsError::new(&detail));
        }
        self.files.push(IncomingFile { slot, size_bytes, bytes });
        Ok(())
    }

    /// Appends the next piece of the file for a slot.
    ///
    /// # Errors
    ///
    /// Returns a message if [`Self::begin`] was not called for the slot, or if the pieces exceed
    /// the announced size. In the second case the unfinished file is removed.
    pub(crate) fn add(&mut self, slot: usize, chunk: &[u8]) -> Result<(), JsError> {
        let index = self.index_of(slot)?;
        let IncomingFile { size_bytes, bytes, .. } = &mut self.files[index];
        if bytes.len() + chunk.len() > *size_bytes {
            let kind = self.kind;
            let detail = format!("{kind} for slot {slot} exceeds its announced size of {size_bytes} bytes");
            self.files.swap_remove(index);
            return Err(JsError::new(&detail));
        }
        bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// Removes the file for a slot from this list and returns its bytes.
    ///
    /// # Errors
    ///
    /// Returns a message if [`Self::begin`] was not called for the slot, or if the file is
    /// incomplete. An incomplete file is removed.
    pub(crate) fn end(&mut self, slot: usize) -> Result<Vec<u8>, JsError> {
        let index = self.index_of(slot)?;
        let IncomingFile { size_bytes, bytes, .. } = self.files.swap_remove(index);
        if bytes.len() < size_bytes {
            let (kind, received_bytes) = (self.kind, bytes.len());
            let detail = format!("{kind} for slot {slot} ended after {received_bytes} of {size_bytes} bytes");
            return Err(JsError::new(&detail));
        }
        Ok(bytes)
    }

    /// Removes the unfinished file for a slot.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.files.retain(|file| file.slot != slot);
    }

    fn index_of(&self, slot: usize) -> Result<usize, JsError> {
        let index = self.files.iter().position(|file| file.slot == slot);
        let kind = self.kind;
        let detail = || format!("{kind} for slot {slot} was not announced, or was removed after an error");
        index.ok_or_else(|| JsError::new(&detail()))
    }
}
