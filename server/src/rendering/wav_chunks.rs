//! The chunks of a WAV file that describe it: `bext` (EBU Tech 3285, version 2), `LIST` with
//! `INFO`, `axml` with the ISRC (EBU Tech 3352), and chapters as `cue ` with a `LIST` of their
//! names (Multimedia Programming Interface and Data Specifications 1.0, chapter 3).

use super::options::MixOptions;
use crate::clock;
use crate::encoding::chapters::Chapter;
use crate::encoding::measure::Measurements;
use crate::encoding::tags::{ENCODED_BY, Tags};

/// Value for an unknown loudness (EBU Tech 3285, section 2.4).
const UNKNOWN_LOUDNESS: i16 = i16::MAX;

/// Version of the chunk `bext`.
const BEXT_VERSION: u16 = 2;

/// Returns the chunks of a file with these tags. Their length does not depend on `measurements`,
/// which is `None` until the file is complete.
pub(super) fn wav_chunks(options: &MixOptions, tags: &Tags, measurements: Option<&Measurements>) -> Vec<u8> {
    let mut chunks = chunk(*b"bext", &even(bext_chunk(options, tags, measurements)));
    chunks.extend(chunk(*b"LIST", &info_chunk(tags)));
    if let Some(isrc) = &tags.isrc {
        chunks.extend(chunk(*b"axml", axml_text(isrc).as_bytes()));
    }
    if !tags.chapters.is_empty() {
        let (points, names) = cue_chunks(&tags.chapters);
        chunks.extend(chunk(*b"cue ", &points));
        chunks.extend(chunk(*b"LIST", &names));
    }
    chunks
}

/// Returns content of an even length, with a zero appended if needed. Some programs do not skip the
/// padding of chunks with an odd length.
fn even(mut content: Vec<u8>) -> Vec<u8> {
    if !content.len().is_multiple_of(2) {
        content.push(0);
    }
    content
}

/// Returns a chunk with its header, and with a padding byte if its length is odd.
fn chunk(id: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = id.to_vec();
    chunk.extend((content.len() as u32).to_le_bytes());
    chunk.extend(content);
    if !content.len().is_multiple_of(2) {
        chunk.push(0);
    }
    chunk
}

/// Returns the content of the chunk `bext`.
fn bext_chunk(options: &MixOptions, tags: &Tags, measurements: Option<&Measurements>) -> Vec<u8> {
    let now = clock::now_text();
    let mut output = Vec::new();
    let mut text = |value: &str, bytes: usize| {
        let ascii = value.chars().map(|character| if character.is_ascii() { character as u8 } else { b'?' });
        let start = output.len();
        output.extend(ascii.take(bytes));
        output.resize(start + bytes, 0);
    };
    text(tags.title.as_deref().unwrap_or_default(), 256);
    text(ENCODED_BY, 32);
    // Empty reference of the originator.
    text("", 32);
    text(now.get(..10).unwrap_or_default(), 10);
    text(now.get(11..19).unwrap_or_default(), 8);
    // The file begins at midnight, and has no unique identifier.
    output.extend(0_u64.to_le_bytes());
    output.extend(BEXT_VERSION.to_le_bytes());
    output.extend([0; 64]);
    let hundredths = |value: Option<f64>| {
        value.map_or(UNKNOWN_LOUDNESS, |value| (100.0 * value).round().clamp(-9_999.0, 9_999.0) as i16)
    };
    for value in [
        measurements.and_then(|measurements| measurements.integrated_lufs),
        measurements.map(|measurements| measurements.range_lu),
        measurements.and_then(|measurements| measurements.true_peak_dbtp),
        measurements.and_then(|measurements| measurements.max_momentary_lufs),
        measurements.and_then(|measurements| measurements.max_short_term_lufs),
    ] {
        output.extend(hundredths(value).to_le_bytes());
    }
    output.extend([0; 180]);
    let bits = 8 * options.sample_format().bytes_per_sample();
    let rate_hz = options.sample_rate_hz;
    output.extend(format!("A=PCM,F={rate_hz},W={bits},M=stereo,T={ENCODED_BY}\r\n").as_bytes());
    output
}

/// Returns the content of the chunk `LIST` with the tags.
fn info_chunk(tags: &Tags) -> Vec<u8> {
    let year = tags.year.map(|year| format!("{year:04}"));
    let mut list = b"INFO".to_vec();
    for (id, value) in [
        (*b"INAM", tags.title.as_deref()),
        (*b"IART", tags.artist.as_deref()),
        (*b"IPRD", tags.album.as_deref()),
        (*b"IGNR", tags.genre.as_deref()),
        (*b"ICRD", year.as_deref()),
        (*b"ICMT", tags.comment.as_deref()),
        (*b"ISFT", Some(ENCODED_BY)),
    ] {
        if let Some(value) = value {
            list.extend(chunk(id, &[value.as_bytes(), &[0]].concat()));
        }
    }
    list
}

/// Returns the content of the chunk `cue ` and that of the `LIST` with the names of its points.
/// Chapters that begin after frame 2^32 - 1, the highest that a point can have, are left out.
fn cue_chunks(chapters: &[Chapter]) -> (Vec<u8>, Vec<u8>) {
    let frames = || chapters.iter().map_while(|chapter| u32::try_from(chapter.frame).ok());
    let mut points = (frames().count() as u32).to_le_bytes().to_vec();
    let mut names = b"adtl".to_vec();
    for ((frame, chapter), number) in frames().zip(chapters).zip(1_u32..) {
        let (number, frame) = (number.to_le_bytes(), frame.to_le_bytes());
        // Without a playlist, both positions count from the start of the only chunk `data`.
        let [chunk_start, block_start] = [[0; 4]; 2];
        points.extend([number, frame, *b"data", chunk_start, block_start, frame].concat());
        names.extend(chunk(*b"labl", &[&number, chapter.name.as_bytes(), &[0]].concat()));
    }
    (points, names)
}

/// Returns the content of the chunk `axml`. An ISRC has only letters and digits, so it needs no
/// escapes.
fn axml_text(isrc: &str) -> String {
    let mut text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<ebucore:ebuCoreMain xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:ebucore="urn:ebu:metadata-schema:ebuCore_2012">
<ebucore:coreMetadata>
<ebucore:identifier typeLabel="GUID" typeDefinition="Globally Unique Identifier" formatLabel="ISRC" formatDefinition="International Standard Recording Code" formatLink="http://www.ebu.ch/metadata/cs/ebu_IdentifierTypeCodeCS.xml#3.7">
<dc:identifier>ISRC:{isrc}</dc:identifier>
</ebucore:identifier>
</ebucore:coreMetadata>
</ebucore:ebuCoreMain>
"#
    );
    // See [`even`]. XML may end with any number of line breaks.
    if !text.len().is_multiple_of(2) {
        text.push('\n');
    }
    text
}
