//! Parses the presets that a download requests, as in `0:0,0:33,128:0`.

use std::collections::BTreeSet;

use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiError, ApiResult};

/// Maximum number of presets in one request. A list of this length still fits into a URL.
const PRESETS_MAX: usize = 4_096;

/// Highest program number of MIDI.
const PROGRAM_MAX: u8 = 127;

/// The requested part of a SoundFont.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DownloadQuery {
    /// Pairs `bank:program` such as `0:0,0:33,128:0`, at most 4096. The answer is then an SF2 file
    /// with only these presets and PCM samples. Renders with this file are bit-identical to renders
    /// with the whole bank. If the bank lacks a preset, the file has the preset that would be
    /// played instead. By default, the answer is the unchanged file.
    #[param(pattern = r"^\d{1,4}:(\d|[1-9]\d|1[01]\d|12[0-7])(,\d{1,4}:(\d|[1-9]\d|1[01]\d|12[0-7]))*$")]
    pub(super) presets: Option<String>,
}

/// Parses the list into bank and program numbers, sorted and without duplicates.
///
/// # Errors
/// 422 `bad_presets`, which names the first invalid entry.
pub(super) fn parse(text: &str) -> ApiResult<Vec<(u16, u8)>> {
    let bad_presets = |detail: String| ApiError::Unprocessable { code: "bad_presets", detail };
    let mut presets = BTreeSet::new();
    for (index, entry) in text.split(',').enumerate() {
        if index == PRESETS_MAX {
            return Err(bad_presets(format!(
                "`presets` has more than {PRESETS_MAX} entries, which is the maximum."
            )));
        }
        let Some(preset) = parse_pair(entry.trim()) else {
            let shown_entry: String = entry.chars().take(40).collect();
            return Err(bad_presets(format!(
                "`presets` must be a list such as 0:0,0:33,128:0, in which each entry is a bank from 0 to {} and a program from 0 to \
                 {PROGRAM_MAX}; entry {} is `{shown_entry}`.",
                u16::MAX,
                index + 1
            )));
        };
        presets.insert(preset);
    }
    Ok(presets.into_iter().collect())
}

fn parse_pair(text: &str) -> Option<(u16, u8)> {
    let (bank, program) = text.split_once(':')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(bank) || !digits(program) {
        return None;
    }
    Some((bank.parse().ok()?, program.parse().ok().filter(|program| *program <= PROGRAM_MAX)?))
}

/// Writes the list as text.
pub(super) fn to_text(presets: &[(u16, u8)]) -> String {
    let pairs: Vec<String> = presets.iter().map(|(bank, program)| format!("{bank}:{program}")).collect();
    pairs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_without_duplicates() {
        let presets = parse("128:0, 0:5,0:5,0:0").expect("a list");
        assert_eq!(presets, [(0, 0), (0, 5), (128, 0)]);
        assert_eq!(to_text(&presets), "0:0,0:5,128:0");
    }

    #[track_caller]
    fn check_refused(text: &str, in_detail: &str) {
        let error = parse(text).expect_err("is refused").to_string();
        assert!(error.contains(in_detail), "{error}");
    }

    #[test]
    fn the_error_names_the_first_invalid_entry() {
        check_refused("", "entry 1 is ``");
        check_refused("0:0,", "entry 2 is ``");
        check_refused("0", "entry 1 is `0`");
        check_refused("0:0,0:128", "entry 2 is `0:128`");
        check_refused("65536:0", "entry 1 is `65536:0`");
        check_refused("+1:0", "entry 1 is `+1:0`");
        check_refused("-1:0", "entry 1");
        check_refused("0:0:0", "entry 1");
        check_refused(&"9".repeat(100_000), &format!("`{}`", "9".repeat(40)));
        let many_presets = vec!["0:0"; PRESETS_MAX];
        assert_eq!(parse(&many_presets.join(",")).expect("a list of the maximum length"), [(0, 0)]);
        check_refused(&format!("{},0:0", many_presets.join(",")), "more than 4096");
    }
}
