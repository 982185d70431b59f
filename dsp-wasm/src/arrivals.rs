//! Files that come piece by piece, so that no copy is large enough to be heard.

use wasm_bindgen::JsError;

/// Files of one sort on their way into slots.
pub(crate) struct Arrivals {
    /// What they are, for messages.
    what: &'static str,
    files: Vec<Arrival>,
}

/// A file of which some is there.
struct Arrival {
    slot: usize,
    size_bytes: usize,
    bytes: Vec<u8>,
}

impl Arrivals {
    /// None of them yet.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, files: Vec::new() }
    }

    /// Makes room for one of so many bytes. What was there of an earlier one for the slot goes.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub(crate) fn begin(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        self.drop(slot);
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size_bytes).is_err() {
            let detail = format!("there is no memory for {} of {size_bytes} bytes", self.what);
            return Err(JsError::new(&detail));
        }
        self.files.push(Arrival { slot, size_bytes, bytes });
        Ok(())
    }

    /// Takes the next piece.
    ///
    /// # Errors
    ///
    /// None was begun for the slot, or it is longer than it was said to be; what was there of it
    /// then goes.
    pub(crate) fn add(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        let place = self.place(slot)?;
        let Arrival { size_bytes, bytes, .. } = &mut self.files[place];
        if bytes.len() + piece.len() > *size_bytes {
            let detail = format!("{} is longer than {size_bytes} bytes", self.what);
            self.files.swap_remove(place);
            return Err(JsError::new(&detail));
        }
        bytes.extend_from_slice(piece);
        Ok(())
    }

    /// All of a file.
    ///
    /// # Errors
    ///
    /// None was begun for the slot, or it is not whole; what was there of it goes.
    pub(crate) fn end(&mut self, slot: usize) -> Result<Vec<u8>, JsError> {
        let place = self.place(slot)?;
        let Arrival { size_bytes, bytes, .. } = self.files.swap_remove(place);
        if bytes.len() < size_bytes {
            let detail = format!("{} broke off after {} of {size_bytes} bytes", self.what, bytes.len());
            return Err(JsError::new(&detail));
        }
        Ok(bytes)
    }

    /// Lets go what is there of a file.
    pub(crate) fn drop(&mut self, slot: usize) {
        self.files.retain(|one| one.slot != slot);
    }

    fn place(&self, slot: usize) -> Result<usize, JsError> {
        let place = self.files.iter().position(|one| one.slot == slot);
        place.ok_or_else(|| JsError::new(&format!("{} was not begun there", self.what)))
    }
}
