//! The further files of a render: other formats of the same mix, and other parts of the song.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::file_options::FileOptions;
use super::request::check_range;
use super::sound_options::{FileSettings, SoundDefaults, SoundOptions};
use super::unknown_options::refuse_unknown;
use crate::error::{ApiError, ApiResult};
use crate::rendering::selection::TickRange;

/// Maximum number of files of a render.
const FILES_MAX: usize = 32;

/// Maximum number of files that are written at the same time. Each of them may have an encoder.
const WRITTEN_AT_ONCE_MAX: usize = 16;

/// A further file of a render. It has the same tracks as the first file, and the same maximum tail.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct MoreFile {
    /// Format, quality and tags of the file.
    #[serde(flatten)]
    file: FileOptions,
    /// Sample format, dither, loudness and sample rate of the file.
    #[serde(flatten)]
    sound: SoundOptions,
    /// The range of the song, without a tail; by default the whole song.
    range: Option<TickRange>,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    unknown_fields: Map<String, Value>,
}

/// A checked further file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CheckedMoreFile {
    pub(super) settings: FileSettings,
    pub(super) range: Option<TickRange>,
}

/// Checks the further files of a render whose first file has the range `first`. `defaults` apply to
/// each file.
///
/// # Errors
/// 400 `too_many_files`, or the error of the first invalid file, whose detail names the file.
pub(super) fn check_more_files(
    first: Option<TickRange>,
    files: Vec<MoreFile>,
    defaults: SoundDefaults,
) -> ApiResult<Vec<CheckedMoreFile>> {
    let count = files.len() + 1;
    if count > FILES_MAX {
        return Err(too_many(format!("The render has {count} files; at most {FILES_MAX} are allowed.")));
    }
    let ranges: Vec<_> = files.iter().map(|file| file.range).chain([first]).collect();
    let at_once = most_at_once(&ranges);
    if at_once > WRITTEN_AT_ONCE_MAX {
        return Err(too_many(format!(
            "The parts of {at_once} files overlap at one moment of the song; at most {WRITTEN_AT_ONCE_MAX} files may contain the same moment."
        )));
    }
    let checked_files = files
        .into_iter()
        .enumerate()
        .map(|(index, file)| file.check(defaults).map_err(|error| in_file(index, error)));
    checked_files.collect()
}

impl MoreFile {
    fn check(self, defaults: SoundDefaults) -> ApiResult<CheckedMoreFile> {
        let Self { file, sound, range, unknown_fields } = self;
        refuse_unknown(unknown_fields.iter())?;
        check_range(range)?;
        Ok(CheckedMoreFile { settings: FileSettings::check(file.check()?, sound, defaults)?, range })
    }
}

/// Adds the index of the further file to the detail of an error.
fn in_file(index: usize, error: ApiError) -> ApiError {
    let placed = |detail| format!("`more_files[{index}]`: {detail}");
    match error {
        ApiError::BadRequest { code, detail } => ApiError::BadRequest { code, detail: placed(detail) },
        ApiError::Unprocessable { code, detail } => ApiError::Unprocessable { code, detail: placed(detail) },
        other => other,
    }
}

fn too_many(detail: String) -> ApiError {
    ApiError::bad_request("too_many_files", detail)
}

/// Returns the largest number of files that are written at the same time. Files of the whole song
/// are written in a separate pass.
fn most_at_once(ranges: &[Option<TickRange>]) -> usize {
    let whole_count = ranges.iter().filter(|range| range.is_none()).count();
    let mut changes = BTreeMap::<u32, isize>::new();
    for TickRange { start_tick, end_tick } in ranges.iter().flatten() {
        *changes.entry(*start_tick).or_default() += 1;
        *changes.entry(*end_tick).or_default() -= 1;
    }
    let counts = changes.values().scan(0, |count, change| {
        *count += change;
        Some(*count)
    });
    counts.max().unwrap_or(0).unsigned_abs().max(whole_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_at_the_same_time_where_their_ranges_overlap() {
        let range = |start_tick, end_tick| Some(TickRange { start_tick, end_tick });
        for (ranges, expected) in [
            (vec![None], 1),
            (vec![None, None, range(0, 10)], 2),
            (vec![range(0, 10), range(10, 20), range(20, 30)], 1),
            (vec![range(0, 10), range(5, 20), range(9, 30)], 3),
        ] {
            assert_eq!(most_at_once(&ranges), expected, "{ranges:?}");
        }
    }
}
