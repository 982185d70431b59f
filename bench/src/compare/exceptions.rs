//! Known differences that follow from the SoundFont specification, each with the clause that
//! requires it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::conditions::{Conditions, Offset};
use super::notes::Note;

/// A measure of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// Median difference of the third-octave bands in decibels.
    Bands,
    /// Difference of the pitch in cents.
    Pitch,
    /// Difference of the time to 3 dB below the highest level, in per cent.
    Attack,
    /// Difference of the time until the note is 20 dB below its highest level, in per cent.
    Decay,
    /// Difference of the time from the end of the note to 40 dB below its level there, in per cent.
    Release,
}

impl Measure {
    pub(crate) const ALL: [Self; 5] = [Self::Bands, Self::Pitch, Self::Attack, Self::Decay, Self::Release];

    /// Returns the largest difference that needs no exception.
    pub(crate) fn limit(self) -> f64 {
        match self {
            Self::Bands => 1.5,
            Self::Pitch => 2.0,
            Self::Attack | Self::Decay | Self::Release => 5.0,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bands => "bands",
            Self::Pitch => "pitch",
            Self::Attack => "attack",
            Self::Decay => "decay",
            Self::Release => "release",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Bands => "dB",
            Self::Pitch => "cents",
            Self::Attack | Self::Decay | Self::Release => "%",
        }
    }
}

/// The file of known exceptions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    #[serde(default)]
    exception: Vec<Exception>,
}

/// Notes that differ, and the reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    /// File stems of the banks.
    banks: BTreeSet<String>,
    /// Programs, or `None` for all.
    programs: Option<BTreeSet<u8>>,
    /// Keys, or `None` for all.
    keys: Option<BTreeSet<u8>>,
    /// Measures that differ, each with its largest explained difference.
    at_most: BTreeMap<Measure, f64>,
    /// Offsets that remove the cause of the difference. With these offsets, the difference must be
    /// within the limit. This proves the reason.
    #[serde(default)]
    removed_by: Removal,
    /// Section of the SoundFont specification 2.04 that we follow.
    pub(crate) clause: String,
    /// How and where FluidSynth deviates from this section.
    pub(crate) reason: String,
    #[serde(skip)]
    is_used: Cell<bool>,
}

/// Generator offsets by NRPN. Each has the number of a generator and an amount in the generator's
/// unit.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Removal {
    /// Offsets in our engine.
    ours: Vec<(u8, i32)>,
    /// Offsets in FluidSynth.
    theirs: Vec<(u8, i32)>,
    /// Offsets in both synthesizers.
    both: Vec<(u8, i32)>,
    /// Whether FluidSynth is tuned up by its smallest step.
    theirs_fine_tuned: bool,
}

impl Removal {
    fn conditions(&self, velocity: u8) -> Conditions {
        let offsets = |list: &[(u8, i32)]| -> Vec<Offset> {
            list.iter().map(|&(generator, amount)| Offset { generator, amount }).collect()
        };
        let (mut our_offsets, mut their_offsets) = (offsets(&self.ours), offsets(&self.theirs));
        our_offsets.extend(offsets(&self.both));
        their_offsets.extend(offsets(&self.both));
        Conditions { velocity, our_offsets, their_offsets, theirs_fine_tuned: self.theirs_fine_tuned }
    }
}

/// A difference beyond its limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deviation<'a> {
    /// File stem of the bank.
    pub(crate) bank: &'a str,
    pub(crate) note: Note,
    pub(crate) measure: Measure,
    pub(crate) value: f64,
}

impl Exceptions {
    /// Reads the file of known exceptions.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Returns the first exception that explains a difference. `remeasure` plays the note in other
    /// conditions and measures it again.
    pub(crate) fn explain(
        &self,
        deviation: Deviation<'_>,
        velocity: u8,
        mut remeasure: impl FnMut(Conditions) -> anyhow::Result<Option<f64>>,
    ) -> anyhow::Result<Option<&Exception>> {
        for exception in self.exception.iter().filter(|exception| exception.covers(deviation)) {
            let remaining = remeasure(exception.removed_by.conditions(velocity))?;
            if remaining.is_some_and(|value| value.abs() <= deviation.measure.limit()) {
                exception.is_used.set(true);
                return Ok(Some(exception));
            }
        }
        Ok(None)
    }

    /// Returns the exceptions for these banks that explained no difference.
    pub(crate) fn unused(&self, banks: &[&str]) -> impl Iterator<Item = &Exception> {
        let is_for_banks =
            |exception: &&Exception| exception.banks.iter().any(|bank| banks.contains(&bank.as_str()));
        self.exception.iter().filter(is_for_banks).filter(|exception| !exception.is_used.get())
    }
}

impl Exception {
    fn covers(&self, deviation: Deviation<'_>) -> bool {
        let Deviation { bank, note, measure, value } = deviation;
        self.banks.contains(bank)
            && self.programs.as_ref().is_none_or(|programs| programs.contains(&note.program))
            && self.keys.as_ref().is_none_or(|keys| keys.contains(&note.key))
            && self.at_most.get(&measure).is_some_and(|limit| value.abs() <= *limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
[[exception]]
banks = ["A"]
programs = [3, 4]
at_most = { bands = 6.0, decay = 6.0 }
removed_by = { theirs = [[8, -506]], both = [[9, -960]], ours = [[38, 4800]] }
clause = "8.4.2"
reason = "left out"
"#;

    #[test]
    fn an_exception_explains_only_the_differences_that_it_names() {
        let exceptions: Exceptions = toml::from_str(FILE).expect("reads");
        let note = |program| Note { bank: 0, program, key: 60 };
        let explained = |bank: &str, program, measure, value, remaining: f64| {
            let deviation = Deviation { bank, note: note(program), measure, value };
            let explained = exceptions.explain(deviation, 100, |conditions| {
                let offset = |generator, amount| Offset { generator, amount };
                assert_eq!(conditions.velocity, 100);
                assert_eq!(conditions.our_offsets, [offset(38, 4_800), offset(9, -960)]);
                assert_eq!(conditions.their_offsets, [offset(8, -506), offset(9, -960)]);
                Ok(Some(remaining))
            });
            explained.expect("measures").is_some()
        };
        assert_eq!(exceptions.unused(&["A"]).count(), 1);
        assert!(explained("A", 3, Measure::Bands, 2.0, 0.3));
        assert!(explained("A", 4, Measure::Decay, -6.0, 4.9));
        assert!(!explained("A", 3, Measure::Bands, 2.0, 1.6), "the difference remains");
        assert!(!explained("A", 3, Measure::Bands, 6.1, 0.0), "above the largest difference");
        assert!(!explained("A", 5, Measure::Bands, 2.0, 0.0), "another program");
        assert!(!explained("A", 3, Measure::Pitch, 2.0, 0.0), "another measure");
        assert!(!explained("B", 3, Measure::Bands, 2.0, 0.0), "another bank");
        assert_eq!(exceptions.unused(&["A", "B"]).count(), 0);
    }
}
