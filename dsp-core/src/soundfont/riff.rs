//! The RIFF structure of a SoundFont file (section 3): finds the chunks and checks their sizes.
//!
//! A file may be truncated, or a chunk may be larger than the chunk that contains it. Such a chunk
//! is read up to the end of the file or of the outer chunk. Truncated sample data are played. A
//! truncated table is an error.

use alloc::string::String;

use super::error::BankError;

/// The chunks of a SoundFont file that the engine reads, each a slice of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Chunks<'a> {
    pub(super) name: Option<&'a [u8]>,
    pub(super) version: Option<&'a [u8]>,
    pub(super) samples: Option<&'a [u8]>,
    /// Lowest eight bits of 24-bit samples (`sm24`, section 6.2).
    pub(super) sample_low_bytes: Option<&'a [u8]>,
    pub(super) preset_headers: Option<&'a [u8]>,
    pub(super) preset_bags: Option<&'a [u8]>,
    pub(super) preset_modulators: Option<&'a [u8]>,
    pub(super) preset_generators: Option<&'a [u8]>,
    pub(super) instrument_headers: Option<&'a [u8]>,
    pub(super) instrument_bags: Option<&'a [u8]>,
    pub(super) instrument_modulators: Option<&'a [u8]>,
    pub(super) instrument_generators: Option<&'a [u8]>,
    pub(super) sample_headers: Option<&'a [u8]>,
    /// Whether the file has the form type `sfpk` and compressed sample data. The types in the
    /// sample headers do not show this.
    pub(super) is_packed: bool,
    /// The last chunk that was found to have fewer bytes than its header states.
    truncated_chunk: Option<TruncatedChunk>,
}

/// A chunk that has fewer bytes than its header states.
#[derive(Debug, Clone, Copy)]
struct TruncatedChunk {
    id: [u8; 4],
    stated_bytes: usize,
    present_bytes: usize,
}

impl From<TruncatedChunk> for BankError {
    fn from(chunk: TruncatedChunk) -> Self {
        Self::Truncated {
            chunk: String::from_utf8_lossy(&chunk.id).into_owned(),
            stated_bytes: chunk.stated_bytes as u64,
            present_bytes: chunk.present_bytes as u64,
        }
    }
}

/// Form types of banks (section 4.2) and of banks with compressed sample data.
const FORM_TYPES: [&[u8; 4]; 2] = [b"sfbk", b"sfpk"];

impl<'a> Chunks<'a> {
    pub(super) fn read(file: &'a [u8]) -> Result<Self, BankError> {
        let form = file.get(8..12).ok_or(BankError::NotASoundFont)?;
        if &file[..4] != b"RIFF" || !FORM_TYPES.iter().any(|known_form| *known_form == form) {
            return Err(BankError::NotASoundFont);
        }
        let mut chunks = Self::default();
        let (_, body, _) = chunks.split_chunk(file).ok_or(BankError::NotASoundFont)?;
        // The body starts with the form type.
        let mut lists = body.get(4..).ok_or(BankError::NotASoundFont)?;
        while let Some((id, list, remaining)) = chunks.split_chunk(lists) {
            lists = remaining;
            if id != b"LIST" || list.len() < 4 {
                continue;
            }
            let mut inner_chunks = &list[4..];
            while let Some((id, body, remaining)) = chunks.split_chunk(inner_chunks) {
                inner_chunks = remaining;
                chunks.store(id, body)?;
            }
        }
        chunks.check_presence()?;
        chunks.is_packed =
            form == b"sfpk" && chunks.samples.is_some_and(|samples| samples.starts_with(b"OggS"));
        Ok(chunks)
    }

    /// Stores the body of a chunk with a known id. Returns an error for a truncated table.
    fn store(&mut self, id: &[u8; 4], body: &'a [u8]) -> Result<(), BankError> {
        let field = match id {
            b"INAM" => &mut self.name,
            b"ifil" => &mut self.version,
            b"smpl" => &mut self.samples,
            b"sm24" => &mut self.sample_low_bytes,
            b"phdr" => &mut self.preset_headers,
            b"pbag" => &mut self.preset_bags,
            b"pmod" => &mut self.preset_modulators,
            b"pgen" => &mut self.preset_generators,
            b"inst" => &mut self.instrument_headers,
            b"ibag" => &mut self.instrument_bags,
            b"imod" => &mut self.instrument_modulators,
            b"igen" => &mut self.instrument_generators,
            b"shdr" => &mut self.sample_headers,
            _ => return Ok(()),
        };
        *field = Some(body);
        let is_table = !matches!(id, b"INAM" | b"ifil" | b"smpl" | b"sm24");
        match self.truncated_chunk {
            // A truncated table lacks its terminal record, which marks the end of the last list.
            Some(chunk) if is_table && chunk.id == *id => Err(chunk.into()),
            _ => Ok(()),
        }
    }

    /// Checks that all required chunks exist. If the file is truncated, the error says so instead
    /// of naming the missing chunk.
    fn check_presence(&self) -> Result<(), BankError> {
        let required_chunks = [
            ("smpl", self.samples),
            ("phdr", self.preset_headers),
            ("pbag", self.preset_bags),
            ("pgen", self.preset_generators),
            ("inst", self.instrument_headers),
            ("ibag", self.instrument_bags),
            ("igen", self.instrument_generators),
            ("shdr", self.sample_headers),
        ];
        match required_chunks.into_iter().find(|(_, body)| body.is_none()) {
            Some((chunk, _)) => {
                Err(self.truncated_chunk.map_or(BankError::MissingChunk { chunk }, BankError::from))
            }
            None => Ok(()),
        }
    }

    /// Splits off the first chunk. Returns its id, its body and the remaining bytes; `None` if the
    /// bytes are too short for a chunk header. A chunk of odd size is followed by a pad byte of 0,
    /// which some writers of SF3 files omit.
    fn split_chunk(&mut self, bytes: &'a [u8]) -> Option<(&'a [u8; 4], &'a [u8], &'a [u8])> {
        let (id, remaining) = bytes.split_first_chunk::<4>()?;
        let (size_field, remaining) = remaining.split_first_chunk::<4>()?;
        let stated_bytes = u32::from_le_bytes(*size_field) as usize;
        let present_bytes = stated_bytes.min(remaining.len());
        if present_bytes < stated_bytes {
            self.truncated_chunk = Some(TruncatedChunk { id: *id, stated_bytes, present_bytes });
        }
        let (body, remaining) = remaining.split_at(present_bytes);
        let is_odd = stated_bytes % 2 == 1;
        let unpadded_bytes = remaining.strip_prefix(&[0]).filter(|_| is_odd);
        Some((id, body, unpadded_bytes.unwrap_or(remaining)))
    }
}
