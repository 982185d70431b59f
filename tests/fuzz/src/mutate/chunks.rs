//! Mutations of files whose chunks have a four-letter name and a size: RIFF, AIFF and MIDI.

use crate::choices::Choices;
use crate::mutate::{any, in_place, word};

/// Byte order of the sizes of chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// The name and the body of a chunk.
pub(crate) struct Chunk {
    pub(crate) id: [u8; 4],
    pub(crate) body: Vec<u8>,
    /// The size in the header, if it differs from the size of the body.
    size: Option<u32>,
}

impl Chunk {
    pub(crate) fn new(id: &[u8; 4], body: Vec<u8>) -> Self {
        Self { id: *id, body, size: None }
    }
}

/// Splits a file into its chunks. A truncated chunk extends to the end of the file.
pub(crate) fn parse(mut bytes: &[u8], order: Order, is_padded: bool) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while let Some((id, remaining)) = bytes.split_first_chunk::<4>()
        && let Some((size, remaining)) = remaining.split_first_chunk::<4>()
    {
        let size = if order == Order::Little { u32::from_le_bytes(*size) } else { u32::from_be_bytes(*size) };
        let (body, remaining) = remaining.split_at((size as usize).min(remaining.len()));
        let size = Some(size).filter(|size| *size as usize != body.len());
        chunks.push(Chunk { id: *id, body: body.to_vec(), size });
        bytes =
            if is_padded && body.len() % 2 == 1 { remaining.get(1..).unwrap_or_default() } else { remaining };
    }
    chunks
}

/// Returns the file of these chunks.
pub(crate) fn write(chunks: &[Chunk], order: Order, is_padded: bool) -> Vec<u8> {
    let mut output = Vec::new();
    for Chunk { id, body, size } in chunks {
        let size = size.unwrap_or(body.len() as u32);
        output.extend(id);
        output.extend(if order == Order::Little { size.to_le_bytes() } else { size.to_be_bytes() });
        output.extend(body);
        output.resize(output.len() + usize::from(is_padded && body.len() % 2 == 1), 0);
    }
    output
}

/// Mutates a chunk within a RIFF, RF64 or AIFF file.
pub(crate) fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let order = if bytes.starts_with(b"FORM") { Order::Big } else { Order::Little };
    let (head, inner_bytes) = bytes.split_at_checked(12)?;
    let mut chunks = parse(inner_bytes, order, true);
    if chunks.is_empty() {
        return None;
    }
    let index = choices.below(chunks.len());
    let chunk = &mut chunks[index];
    match choices.below(8) {
        0 => chunk.size = Some([0, 1, 0x7fff_ffff, u32::MAX, chunk.body.len() as u32 + 1][choices.below(5)]),
        1 => drop(chunks.remove(index)),
        2 => {
            let other_index = choices.below(chunks.len());
            chunks.swap(index, other_index);
        }
        3 => in_place(&mut chunk.id),
        4 => any(&mut chunk.body),
        5 => in_place(&mut chunk.body),
        _ => word(&mut chunk.body, choices),
    }
    let inner_bytes = write(&chunks, order, true);
    let mut output = head.to_vec();
    // A size that is a placeholder stays unchanged.
    if ![0, u32::MAX].contains(&u32::from_le_bytes([head[4], head[5], head[6], head[7]])) {
        let size = inner_bytes.len() as u32 + 4;
        output[4..8].copy_from_slice(&if order == Order::Little {
            size.to_le_bytes()
        } else {
            size.to_be_bytes()
        });
    }
    output.extend(inner_bytes);
    Some(output)
}
