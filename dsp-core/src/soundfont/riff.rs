//! The RIFF structure of a SoundFont file (section 3): finds the chunks, checks every size.

use alloc::string::String;

use super::BankError;

/// The chunks of a SoundFont file that matter, each a slice of the file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunks<'a> {
    pub(super) name: Option<&'a [u8]>,
    pub(super) version: Option<&'a [u8]>,
    pub(super) samples: Option<&'a [u8]>,
    pub(super) preset_headers: Option<&'a [u8]>,
    pub(super) preset_bags: Option<&'a [u8]>,
    pub(super) preset_generators: Option<&'a [u8]>,
    pub(super) instrument_headers: Option<&'a [u8]>,
    pub(super) instrument_bags: Option<&'a [u8]>,
    pub(super) instrument_generators: Option<&'a [u8]>,
    pub(super) sample_headers: Option<&'a [u8]>,
}

impl<'a> Chunks<'a> {
    pub(super) fn read(file: &'a [u8]) -> Result<Self, BankError> {
        if file.len() < 12 || &file[..4] != b"RIFF" || &file[8..12] != b"sfbk" {
            return Err(BankError::NotASoundFont);
        }
        let (_, form) = split_chunk(file)?.0;
        // The form's type counts as part of it.
        let lists = form.get(4..).ok_or(BankError::NotASoundFont)?;
        let mut chunks = Self::default();
        for_each_chunk(lists, |id, body| {
            if id == b"LIST" && body.len() >= 4 {
                for_each_chunk(&body[4..], |id, body| {
                    chunks.take(id, body);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(chunks)
    }

    fn take(&mut self, id: &[u8; 4], body: &'a [u8]) {
        let place = match id {
            b"INAM" => &mut self.name,
            b"ifil" => &mut self.version,
            b"smpl" => &mut self.samples,
            b"phdr" => &mut self.preset_headers,
            b"pbag" => &mut self.preset_bags,
            b"pgen" => &mut self.preset_generators,
            b"inst" => &mut self.instrument_headers,
            b"ibag" => &mut self.instrument_bags,
            b"igen" => &mut self.instrument_generators,
            b"shdr" => &mut self.sample_headers,
            _ => return,
        };
        *place = Some(body);
    }
}

type Chunk<'a> = (&'a [u8; 4], &'a [u8]);

fn for_each_chunk<'a>(
    mut bytes: &'a [u8],
    mut visit: impl FnMut(&'a [u8; 4], &'a [u8]) -> Result<(), BankError>,
) -> Result<(), BankError> {
    while bytes.len() >= 8 {
        let ((id, body), rest) = split_chunk(bytes)?;
        visit(id, body)?;
        bytes = rest;
    }
    Ok(())
}

/// Splits the first chunk, of which the header is there, from what follows it. A chunk of odd
/// size is followed by a pad byte of 0, which some writers of SF3 files leave out.
fn split_chunk(bytes: &[u8]) -> Result<(Chunk<'_>, &[u8]), BankError> {
    let (id, rest) = bytes.split_first_chunk::<4>().ok_or(BankError::NotASoundFont)?;
    let (size, rest) = rest.split_first_chunk::<4>().ok_or(BankError::NotASoundFont)?;
    let size = u32::from_le_bytes(*size) as usize;
    if size > rest.len() {
        return Err(BankError::Truncated {
            chunk: String::from_utf8_lossy(id).into_owned(),
            promised_bytes: size as u64,
            present_bytes: rest.len() as u64,
        });
    }
    let (body, rest) = rest.split_at(size);
    let rest = if size % 2 == 1 { rest.strip_prefix(&[0]).unwrap_or(rest) } else { rest };
    Ok(((id, body), rest))
}
