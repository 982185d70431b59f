//! The RIFF structure of a SoundFont file (section 3): finds the chunks, checks every size.
//!
//! A file may be cut short, or a header may promise more than the enclosing chunk has. Then the
//! chunk ends where that one ends, and what is missing shows: sample data is played as far as it
//! is there, and a table that is cut short is an error.

use alloc::string::String;

use super::BankError;

/// The chunks of a SoundFont file that matter, each a slice of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Chunks<'a> {
    pub(super) name: Option<&'a [u8]>,
    pub(super) version: Option<&'a [u8]>,
    pub(super) samples: Option<&'a [u8]>,
    /// Low bytes of 24-bit samples (`sm24`, section 6.2).
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
    /// Whether the sample data is no PCM, whatever the samples' types say (form type `sfpk`).
    pub(super) packed: bool,
    /// The innermost chunk that has fewer bytes than its header promises.
    cut: Option<Cut>,
}

/// A chunk that is cut short.
#[derive(Debug, Clone, Copy)]
struct Cut {
    id: [u8; 4],
    promised_bytes: usize,
    present_bytes: usize,
}

impl From<Cut> for BankError {
    fn from(cut: Cut) -> Self {
        Self::Truncated {
            chunk: String::from_utf8_lossy(&cut.id).into_owned(),
            promised_bytes: cut.promised_bytes as u64,
            present_bytes: cut.present_bytes as u64,
        }
    }
}

/// Form type of a bank (section 4.2), and the one of banks whose sample data was packed.
const FORMS: [&[u8; 4]; 2] = [b"sfbk", b"sfpk"];

impl<'a> Chunks<'a> {
    pub(super) fn read(file: &'a [u8]) -> Result<Self, BankError> {
        let form = file.get(8..12).ok_or(BankError::NotASoundFont)?;
        if &file[..4] != b"RIFF" || !FORMS.iter().any(|known| *known == form) {
            return Err(BankError::NotASoundFont);
        }
        let mut chunks = Self::default();
        let (_, body, _) = chunks.split_chunk(file).ok_or(BankError::NotASoundFont)?;
        // The form's type counts as part of it.
        let mut lists = body.get(4..).ok_or(BankError::NotASoundFont)?;
        while let Some((id, list, rest)) = chunks.split_chunk(lists) {
            lists = rest;
            if id != b"LIST" || list.len() < 4 {
                continue;
            }
            let mut inner = &list[4..];
            while let Some((id, body, rest)) = chunks.split_chunk(inner) {
                inner = rest;
                chunks.take(id, body)?;
            }
        }
        chunks.check_presence()?;
        chunks.packed = form == b"sfpk" && chunks.samples.is_some_and(|samples| samples.starts_with(b"OggS"));
        Ok(chunks)
    }

    fn take(&mut self, id: &[u8; 4], body: &'a [u8]) -> Result<(), BankError> {
        let place = match id {
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
        *place = Some(body);
        let is_table = !matches!(id, b"INAM" | b"ifil" | b"smpl" | b"sm24");
        match self.cut {
            // Half a table means something else than the whole: its last record ends the lists.
            Some(cut) if is_table && cut.id == *id => Err(cut.into()),
            _ => Ok(()),
        }
    }

    /// A bank has at least these chunks; one that is missing from a file cut short is missing
    /// because of that.
    fn check_presence(&self) -> Result<(), BankError> {
        let needed = [
            ("smpl", self.samples),
            ("phdr", self.preset_headers),
            ("pbag", self.preset_bags),
            ("pgen", self.preset_generators),
            ("inst", self.instrument_headers),
            ("ibag", self.instrument_bags),
            ("igen", self.instrument_generators),
            ("shdr", self.sample_headers),
        ];
        match needed.into_iter().find(|(_, body)| body.is_none()) {
            Some((chunk, _)) => Err(self.cut.map_or(BankError::MissingChunk { chunk }, BankError::from)),
            None => Ok(()),
        }
    }

    /// Splits the first chunk from what follows it, or nothing if not even a header is left. A
    /// chunk of odd size is followed by a pad byte of 0, which some writers of SF3 files leave
    /// out.
    fn split_chunk(&mut self, bytes: &'a [u8]) -> Option<(&'a [u8; 4], &'a [u8], &'a [u8])> {
        let (id, rest) = bytes.split_first_chunk::<4>()?;
        let (size, rest) = rest.split_first_chunk::<4>()?;
        let promised_bytes = u32::from_le_bytes(*size) as usize;
        let present_bytes = promised_bytes.min(rest.len());
        if present_bytes < promised_bytes {
            self.cut = Some(Cut { id: *id, promised_bytes, present_bytes });
        }
        let (body, rest) = rest.split_at(present_bytes);
        let rest = if promised_bytes % 2 == 1 { rest.strip_prefix(&[0]).unwrap_or(rest) } else { rest };
        Some((id, body, rest))
    }
}
