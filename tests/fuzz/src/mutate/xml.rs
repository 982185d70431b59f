//! Mutations of XML that keep its elements nested correctly.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::choices::Choices;

/// Values of attributes with a meaning in a project, and numbers at the limits of ranges.
const VALUES: [&str; 32] = [
    "",
    "0",
    "-0.0",
    "-1",
    "1",
    "0.5",
    "1e-9",
    "1e9",
    "1.0000001e9",
    "-1e9",
    "inf",
    "-inf",
    "NaN",
    "127",
    "128",
    "4294967296",
    "true",
    "beats",
    "seconds",
    "linear",
    "decibel",
    "normalized",
    "semitones",
    "hold",
    "regular",
    "effect",
    "master",
    "submix",
    "vca",
    "pitchBend",
    "channelController",
    "../x",
];

/// Replaces a value of an attribute, or removes or copies an element.
pub(crate) fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let elements = elements(text)?;
    let element = choices.among(&elements).clone();
    let mut mutated = text.to_owned();
    match choices.below(8) {
        0 => mutated.replace_range(element, ""),
        1 | 2 => {
            let offset = choices.among(&elements).start;
            mutated.insert_str(offset, &text[element]);
        }
        kind => {
            let values = values(text);
            if values.is_empty() {
                return None;
            }
            let value = choices.among(&values).clone();
            let other_value = choices.among(&values).clone();
            let new = if kind < 5 { choices.among(&VALUES) } else { &text[other_value] };
            mutated.replace_range(value, new);
        }
    }
    Some(mutated.into_bytes())
}

/// Returns the ranges of all elements inside the outermost one, from their first to their last tag.
fn elements(text: &str) -> Option<Vec<Range<usize>>> {
    let mut reader = Reader::from_str(text);
    let (mut open, mut found_elements) = (Vec::new(), Vec::new());
    loop {
        let start = reader.buffer_position() as usize;
        match reader.read_event().ok()? {
            Event::Start(_) => open.push(start),
            Event::Empty(_) => found_elements.push(start..reader.buffer_position() as usize),
            Event::End(_) => {
                let start = open.pop()?;
                if !open.is_empty() {
                    found_elements.push(start..reader.buffer_position() as usize);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    (!found_elements.is_empty()).then_some(found_elements)
}

/// Returns the ranges of the values in double quotes.
fn values(text: &str) -> Vec<Range<usize>> {
    let quotes: Vec<usize> = text.match_indices('"').map(|(offset, _)| offset).collect();
    quotes.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect()
}
