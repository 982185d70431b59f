//! Damage that leaves the chunks' sizes right, so that it reaches the tables behind them.

use libfuzzer_sys::fuzzer_mutate;

use crate::maker::file::{Chunk, File, List};

/// Sizes of the records of the tables (section 7).
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

/// Words at which things change.
const WORDS: [u16; 12] = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];

/// Bytes that one step may add to a chunk.
const GROWTH_BYTES: usize = 64;

/// Changes the first `size` bytes of `data`; returns how many there are then, at most `max_size`.
pub(crate) fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut choices = Choices(seed);
    let damaged = match parse(&data[..size]) {
        // Now and then the headers, too.
        Some(file) if choices.below(8) != 0 => damage(file, &mut choices),
        _ => None,
    };
    match damaged {
        Some(bytes) if bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

fn damage(mut file: File, choices: &mut Choices) -> Option<Vec<u8>> {
    let chunks = file.lists.iter_mut().flat_map(|list| &mut list.chunks);
    let mut chunks: Vec<&mut Chunk> = chunks.collect();
    // The last list holds the tables: rather these than names and sample data.
    let first = if choices.below(8) == 0 { 0 } else { chunks.len().saturating_sub(RECORD_BYTES.len()) };
    let place = first + choices.below(chunks.len().checked_sub(first)?.max(1));
    let Chunk { id, body, .. } = chunks.get_mut(place)?;
    let record = RECORD_BYTES.iter().find(|(known, _)| *known == id).map_or(2, |&(_, bytes)| bytes);
    let records = body.len() / record;
    match choices.below(6) {
        0 if records > 0 => {
            let at = choices.below(records) * record;
            let copy = body[at..at + record].to_vec();
            body.splice(at..at, copy);
        }
        1 if records > 0 => {
            let at = choices.below(records) * record;
            body.drain(at..at + record);
        }
        2 => {
            let size = body.len();
            body.resize(size + GROWTH_BYTES, 0);
            let size = fuzzer_mutate(body, size, size + GROWTH_BYTES);
            body.truncate(size);
        }
        _ if body.len() >= 2 => {
            let at = choices.below(body.len() / 2) * 2;
            let before = u16::from_le_bytes([body[at], body[at + 1]]);
            let word = match choices.below(4) {
                0 => before.wrapping_add(1),
                1 => before.wrapping_sub(1),
                2 => choices.below(64) as u16,
                _ => WORDS[choices.below(WORDS.len())],
            };
            body[at..at + 2].copy_from_slice(&word.to_le_bytes());
        }
        _ => return None,
    }
    Some(file.bytes())
}

/// Numbers that follow from a seed (Numerical Recipes' generator).
struct Choices(u32);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }
}

fn split<'a>(bytes: &mut &'a [u8]) -> Option<([u8; 4], &'a [u8])> {
    let (id, rest) = bytes.split_first_chunk::<4>()?;
    let (size, rest) = rest.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
    *bytes = if body.len() % 2 == 1 { rest.get(1..).unwrap_or_default() } else { rest };
    Some((*id, body))
}

fn parse(mut bytes: &[u8]) -> Option<File> {
    let (_, body) = split(&mut bytes)?;
    let (form, mut body) = body.split_first_chunk::<4>()?;
    let mut file = File { form: *form, lists: Vec::new() };
    while let Some((_, list)) = split(&mut body) {
        let (kind, mut inner) = list.split_first_chunk::<4>()?;
        let mut chunks = Vec::new();
        while let Some((id, body)) = split(&mut inner) {
            chunks.push(Chunk::new(&id, body.to_vec()));
        }
        file.lists.push(List { kind: *kind, chunks });
    }
    Some(file)
}
