//! Files that arrive in pieces, small enough that copying one does not interrupt playback.

use wasm_bindgen::JsError;

/// Files of one kind that are arriving, each for a slot.
pub(crate) struct IncomingFiles {
    /// Name of the kind, for messages.
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
    /// There is not enough memory.
    pub(crate) fn begin(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        self.remove(slot);
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size_bytes).is_err() {
            let detail = format!("there is not enough memory for {} of {size_bytes} bytes", self.kind);
            return Err(JsError::new(&detail));
        }
        self.files.push(IncomingFile { slot, size_bytes, bytes });
        Ok(())
    }

    /// Appends the next piece of the file for a slot.
    ///
    /// # Errors
    ///
    /// No file was begun for the slot, or the file is larger than its announced size; it is then
    /// removed.
    pub(crate) fn add(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        let index = self.index_of(slot)?;
        let IncomingFile { size_bytes, bytes, .. } = &mut self.files[index];
        if bytes.len() + piece.len() > *size_bytes {
            let detail = format!("{} is larger than {size_bytes} bytes", self.kind);
            self.files.swap_remove(index);
            return Err(JsError::new(&detail));
        }
        bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Ends the file for a slot and returns its bytes.
    ///
    /// # Errors
    ///
    /// No file was begun for the slot, or the file is incomplete; it is then removed.
    pub(crate) fn end(&mut self, slot: usize) -> Result<Vec<u8>, JsError> {
        let index = self.index_of(slot)?;
        let IncomingFile { size_bytes, bytes, .. } = self.files.swap_remove(index);
        if bytes.len() < size_bytes {
            let detail = format!("{} ended after {} of {size_bytes} bytes", self.kind, bytes.len());
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
        index.ok_or_else(|| JsError::new(&format!("{} was not begun for slot {slot}", self.kind)))
    }
}
