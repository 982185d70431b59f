//! Mutations of SoundFonts that keep the sizes of chunks correct, so that the tables are read.

use crate::choices::Choices;
use crate::maker::file::{Chunk, File, List};
use crate::mutate::{any, ogg, records, word};

/// Sizes of the records of the tables in bytes (SoundFont 2.04, section 7).
const RECORD_BYTES: [(&[u8; 4], usize); 9] = [
    (b"phdr", 38),
    (b"pbag", 4),
    (b"pmod", 10),
    (b"pgen", 4),
    (b"inst", 22),
    (b"ibag", 4),
    (b"imod", 10),
    (b"igen", 4),
    (b"shdr", 46),
];

/// Mutates a table, a name or sample data.
pub(crate) fn tables(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut file = parse(bytes)?;
    let chunks = file.lists.iter_mut().flat_map(|list| &mut list.chunks);
    let mut chunks: Vec<&mut Chunk> = chunks.collect();
    // The last list has the tables, which are chosen more often than names and sample data.
    let first = if choices.below(8) == 0 { 0 } else { chunks.len().saturating_sub(RECORD_BYTES.len()) };
    let index = first + choices.below(chunks.len().checked_sub(first)?.max(1));
    let Chunk { id, body, .. } = chunks.get_mut(index)?;
    let record_bytes = RECORD_BYTES.iter().find(|(record_id, _)| *record_id == id).map_or(2, |&(_, bytes)| bytes);
    match choices.below(6) {
        0 | 1 => records(body, record_bytes, choices),
        2 => any(body),
        _ => word(body, choices),
    }
    Some(file.bytes())
}

/// Mutates the first Ogg stream of the sample data. The size of the sample data stays the same.
pub(crate) fn stream(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut file = parse(bytes)?;
    let mut chunks = file.lists.iter_mut().flat_map(|list| &mut list.chunks);
    let Chunk { body, .. } = chunks.find(|chunk| &chunk.id == b"smpl")?;
    let start = body.windows(4).position(|id| id == b"OggS")?;
    let mut stream = ogg::mutate(&body[start..], choices)?;
    stream.resize(body.len() - start, 0);
    body.truncate(start);
    body.extend(stream);
    Some(file.bytes())
}

fn split<'a>(bytes: &mut &'a [u8]) -> Option<([u8; 4], &'a [u8])> {
    let (id, remaining) = bytes.split_first_chunk::<4>()?;
    let (size, remaining) = remaining.split_first_chunk::<4>()?;
    let (body, remaining) = remaining.split_at_checked(u32::from_le_bytes(*size) as usize)?;
    *bytes = if body.len() % 2 == 1 { remaining.get(1..).unwrap_or_default() } else { remaining };
    Some((*id, body))
}

fn parse(mut bytes: &[u8]) -> Option<File> {
    let (_, body) = split(&mut bytes)?;
    let (form, mut body) = body.split_first_chunk::<4>()?;
    let mut file = File { form: *form, lists: Vec::new() };
    while let Some((_, list)) = split(&mut body) {
        let (kind, mut inner_bytes) = list.split_first_chunk::<4>()?;
        let mut chunks = Vec::new();
        while let Some((id, body)) = split(&mut inner_bytes) {
            chunks.push(Chunk::new(&id, body.to_vec()));
        }
        file.lists.push(List { kind: *kind, chunks });
    }
    Some(file)
}
