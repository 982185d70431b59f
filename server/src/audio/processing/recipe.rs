//! The operations that make a processed copy of audio, and their limits.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};
use crate::storage::sha256_of_json;

/// Version of the processing. Increase it when the same recipe gives other samples, so that stored
/// copies are made again.
const VERSION: u32 = 1;

/// Limits of `stretch`: the length of the copy divided by the length of the piece.
const STRETCH_MIN: f64 = 0.25;
const STRETCH_MAX: f64 = 4.0;

/// Highest `pitch_cents` up or down: two octaves.
const PITCH_MAX_CENTS: f64 = 2_400.0;

/// Lowest product of `stretch` and the frequency ratio of `pitch_cents`, a limit of the library.
const FACTOR_MIN: f64 = 0.25;

/// Lowest level of a normalization in decibels. The highest is 0.
const LEVEL_MIN_DB: f64 = -60.0;

/// The operations that make a processed copy of a piece of audio, in the order of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AudioRecipe)]
pub(super) struct Recipe {
    /// First frame of the piece; 0 by default.
    #[serde(default)]
    pub(super) start_frame: u64,
    /// Length of the piece in frames of the file; by default to the end of the file.
    #[serde(default)]
    pub(super) length_frames: Option<u64>,
    /// Whether the piece is played backwards.
    #[serde(default)]
    pub(super) reverse: bool,
    /// Length of the copy divided by the length of the piece, 0.25 to 4; 1 by default. The pitch
    /// stays.
    #[serde(default = "unchanged")]
    #[schema(minimum = 0.25, maximum = 4.0, default = 1.0)]
    pub(super) stretch: f64,
    /// Change of pitch in cents, -2400 to 2400; 0 by default. The length stays, exactly to the frame.
    /// The pitch has steps of 1/512, divided by the product of `stretch` and the frequency ratio:
    /// less than 4 cents if both are 1, and 14 cents at the limit of 0.25.
    #[serde(default)]
    #[schema(minimum = -2400.0, maximum = 2400.0, default = 0.0)]
    pub(super) pitch_cents: f64,
    /// Gain that gives the copy a level; by default the gain stays.
    #[serde(default)]
    pub(super) normalize: Option<Normalize>,
}

/// The level that a copy gets by a constant gain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AudioNormalize)]
pub(super) struct Normalize {
    /// The level that is measured.
    pub(super) measure: Measure,
    /// Target level, -60 to 0: dBFS for `peak`, LUFS for `loudness`.
    #[schema(minimum = -60.0, maximum = 0.0)]
    pub(super) level_db: f64,
}

/// The level that a normalization measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AudioMeasure)]
pub(super) enum Measure {
    /// The highest magnitude of any sample.
    Peak,
    /// The gated loudness (ITU-R BS.1770); the loudness of the whole piece if it is shorter than
    /// 400 ms. Peaks may then exceed 0 dBFS; clips do not distort, because their samples are floats.
    Loudness,
}

fn unchanged() -> f64 {
    1.0
}

impl Recipe {
    /// Returns the number of frames of the piece in a file of `file_frames` frames.
    pub(super) fn piece_frames(&self, file_frames: u64) -> u64 {
        let remaining_frames = file_frames.saturating_sub(self.start_frame);
        self.length_frames.unwrap_or(remaining_frames).min(remaining_frames)
    }

    /// Returns the number of frames of the copy.
    pub(super) fn output_frames(&self, file_frames: u64) -> u64 {
        ((self.piece_frames(file_frames) as f64 * self.stretch).round() as u64).max(1)
    }

    /// Returns the frequency ratio of the change of pitch.
    pub(super) fn pitch_ratio(&self) -> f64 {
        (self.pitch_cents / 1_200.0).exp2()
    }

    /// Whether the copy has the pitch and the length of the piece.
    pub(super) fn keeps_time_and_pitch(&self) -> bool {
        self.stretch == 1.0 && self.pitch_cents == 0.0
    }

    /// Checks the operations for a file of `frames` frames at `rate_hz`. A copy may last
    /// `max_secs`.
    ///
    /// # Errors
    /// 400 `bad_processing` with the field and its limit; 422 `audio_limit` if the copy is too
    /// long.
    pub(super) fn check(&self, frames: u64, rate_hz: u32, max_secs: u64) -> ApiResult<()> {
        let refuse = |detail: String| Err(ApiError::bad_request("bad_processing", detail));
        if self.start_frame >= frames || self.piece_frames(frames) == 0 {
            return refuse(format!(
                "The piece from frame {} with {} frames is not within the file's {frames} frames.",
                self.start_frame,
                self.length_frames.map_or_else(|| "all remaining".to_owned(), |length| length.to_string()),
            ));
        }
        let ranges = [
            ("stretch", self.stretch, STRETCH_MIN, STRETCH_MAX),
            ("pitch_cents", self.pitch_cents, -PITCH_MAX_CENTS, PITCH_MAX_CENTS),
            (
                "normalize.level_db",
                self.normalize.map_or(0.0, |normalize| normalize.level_db),
                LEVEL_MIN_DB,
                0.0,
            ),
        ];
        for (field, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return refuse(format!("`{field}` is {value}; it must be from {min} to {max}."));
            }
        }
        let factor = self.stretch * self.pitch_ratio();
        if factor < FACTOR_MIN {
            return refuse(format!(
                "`stretch` times the frequency ratio of `pitch_cents` is {factor:.3}; it must be at least {FACTOR_MIN}."
            ));
        }
        let max_frames = max_secs.saturating_mul(rate_hz.into());
        let output_frames = self.output_frames(frames);
        if output_frames > max_frames {
            let detail = format!(
                "The processed audio would last {} seconds; the limit is {max_secs} seconds (SF_AUDIO_MAX_SECS).",
                output_frames / u64::from(rate_hz.max(1))
            );
            return Err(ApiError::Unprocessable { code: "audio_limit", detail });
        }
        Ok(())
    }

    /// Returns the key under which the copy of content with this hash is stored.
    pub(super) fn key(&self, sha256: &str) -> ApiResult<String> {
        sha256_of_json(&(VERSION, sha256, self)).map_err(ApiError::internal)
    }

    /// Returns the name of a copy of the file `name`, such as `Voice (reversed, +7 st).wav`.
    pub(super) fn name_of_copy(&self, name: &str) -> String {
        let mut changes = Vec::new();
        if self.reverse {
            changes.push("reversed".to_owned());
        }
        if self.stretch != 1.0 {
            changes.push(format!("{} %", (self.stretch * 10_000.0).round() / 100.0));
        }
        if self.pitch_cents != 0.0 {
            changes.push(format!("{:+} st", self.pitch_cents.round() / 100.0));
        }
        if self.normalize.is_some() {
            changes.push("normalized".to_owned());
        }
        if changes.is_empty() {
            changes.push("copy".to_owned());
        }
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        format!("{stem} ({}).wav", changes.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn recipe(fields: Value) -> Recipe {
        serde_json::from_value(fields).expect("a recipe")
    }

    #[track_caller]
    fn check(fields: Value, expected: Result<(), &str>) {
        let outcome = recipe(fields.clone()).check(48_000, 48_000, 3);
        match (outcome, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) if error.to_string().contains(part) => {}
            (outcome, _) => panic!("{fields}: {outcome:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn values_outside_the_limits_are_refused_by_name() {
        check(json!({}), Ok(()));
        check(json!({ "stretch": 3, "pitch_cents": -1200 }), Ok(()));
        check(json!({ "stretch": 0.2 }), Err("`stretch` is 0.2; it must be from 0.25 to 4"));
        check(json!({ "stretch": 4 }), Err("would last 4 seconds; the limit is 3"));
        check(json!({ "pitch_cents": 2401 }), Err("`pitch_cents` is 2401"));
        check(json!({ "stretch": 0.3, "pitch_cents": -1200 }), Err("frequency ratio"));
        check(json!({ "start_frame": 48_000 }), Err("frame 48000"));
        check(json!({ "length_frames": 0 }), Err("0 frames"));
        check(
            json!({ "normalize": { "measure": "peak", "level_db": 1 } }),
            Err("`normalize.level_db` is 1; it must be from -60 to 0"),
        );
    }

    #[test]
    fn the_name_says_what_was_done() {
        let name = |fields| recipe(fields).name_of_copy("Voice.take.flac");
        assert_eq!(name(json!({ "reverse": true, "pitch_cents": 700 })), "Voice.take (reversed, +7 st).wav");
        assert_eq!(
            name(json!({ "stretch": 1.255, "pitch_cents": -50 })),
            "Voice.take (125.5 %, -0.5 st).wav"
        );
        let loud = json!({ "normalize": { "measure": "loudness", "level_db": -14 } });
        assert_eq!(name(loud), "Voice.take (normalized).wav");
    }

    #[test]
    fn the_key_depends_on_content_and_operations() {
        let key = |sha256: &str, fields| recipe(fields).key(sha256).expect("a key");
        assert_eq!(key("a", json!({})), key("a", json!({ "stretch": 1 })));
        assert_ne!(key("a", json!({})), key("b", json!({})));
        assert_ne!(key("a", json!({})), key("a", json!({ "reverse": true })));
    }
}
