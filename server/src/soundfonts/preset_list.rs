//! The presets that a download requests, as text: `0:0,0:33,128:0`.

use std::collections::BTreeSet;

use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiError, ApiResult};

/// Maximum number of presets in one request. Their list still fits into an address.
const PRESETS_MAX: usize = 4_096;

/// Greatest program number of MIDI.
const PROGRAM_MAX: u8 = 127;

/// The requested part of a SoundFont.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DownloadQuery {
    /// `bank:program` pairs such as `0:0,0:33,128:0`, at most 4096. The answer is an SF2 file of
    /// these presets with PCM samples, which sounds the same to the bit. A pair that the bank does
    /// not have stands for the preset that would be played instead. By default, the unchanged file.
    #[param(pattern = r"^\d{1,4}:(\d|[1-9]\d|1[01]\d|12[0-7])(,\d{1,4}:(\d|[1-9]\d|1[01]\d|12[0-7]))*$")]
    pub(super) presets: Option<String>,
}

/// Bank and program numbers, each pair once, ascending.
///
/// # Errors
/// 422 that names the first invalid entry.
pub(super) fn parse(text: &str) -> ApiResult<Vec<(u16, u8)>> {
    let refused = |detail: String| ApiError::Unprocessable { code: "bad_presets", detail };
    let mut presets = BTreeSet::new();
    for (index, entry) in text.split(',').enumerate() {
        if index == PRESETS_MAX {
            return Err(refused(format!("`presets` lists more than {PRESETS_MAX} presets.")));
        }
        let Some(preset) = pair(entry.trim()) else {
            let shown: String = entry.chars().take(40).collect();
            return Err(refused(format!(
                "`presets` is a list such as 0:0,0:33,128:0, each a bank of 0 to {} and a program of 0 to \
                 {PROGRAM_MAX}; entry {} is `{shown}`.",
                u16::MAX,
                index + 1
            )));
        };
        presets.insert(preset);
    }
    Ok(presets.into_iter().collect())
}

fn pair(text: &str) -> Option<(u16, u8)> {
    let (bank, program) = text.split_once(':')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(bank) || !digits(program) {
        return None;
    }
    Some((bank.parse().ok()?, program.parse().ok().filter(|program| *program <= PROGRAM_MAX)?))
}

/// The list as text.
pub(super) fn text(presets: &[(u16, u8)]) -> String {
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
        assert_eq!(text(&presets), "0:0,0:5,128:0");
    }

    #[track_caller]
    fn check_refused(text: &str, in_detail: &str) {
        let error = parse(text).expect_err("is refused").to_string();
        assert!(error.contains(in_detail), "{error}");
    }

    #[test]
    fn an_invalid_entry_is_named() {
        check_refused("", "entry 1 is ``");
        check_refused("0:0,", "entry 2 is ``");
        check_refused("0", "entry 1 is `0`");
        check_refused("0:0,0:128", "entry 2 is `0:128`");
        check_refused("65536:0", "entry 1 is `65536:0`");
        check_refused("+1:0", "entry 1 is `+1:0`");
        check_refused("-1:0", "entry 1");
        check_refused("0:0:0", "entry 1");
        check_refused(&"9".repeat(100_000), &format!("`{}`", "9".repeat(40)));
        let many = vec!["0:0"; PRESETS_MAX];
        assert_eq!(parse(&many.join(",")).expect("the most presets"), [(0, 0)]);
        check_refused(&format!("{},0:0", many.join(",")), "more than 4096");
    }
}
