//! Differences that follow from the SoundFont specification, each with its clause.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::notes::Note;

/// What is measured on a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// Median third-octave difference, decibels.
    Bands,
    /// Pitch, cents.
    Pitch,
    /// Time to 3 dB below the loudest, per cent.
    Attack,
    /// Time to 20 dB below the loudest, per cent.
    Decay,
    /// Time from the end of the note to 40 dB less, per cent.
    Release,
}

impl Measure {
    pub(crate) const ALL: [Self; 5] = [Self::Bands, Self::Pitch, Self::Attack, Self::Decay, Self::Release];

    /// The most that a note may differ without a reason.
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

/// Notes that differ, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    /// File stem of the bank.
    bank: String,
    /// `melodic` or `drums`.
    presets: PresetKind,
    /// Programs; all where left out.
    programs: Option<BTreeSet<u8>>,
    /// Keys; all where left out.
    keys: Option<BTreeSet<u8>>,
    /// What differs.
    measures: BTreeSet<Measure>,
    /// The most that it may differ.
    at_most: f64,
    /// A velocity at which the difference must be gone: shows that its cause is what the reason says.
    gone_at_velocity: Option<u8>,
    /// Section of the SoundFont specification 2.04 that we follow.
    pub(crate) clause: String,
    /// What FluidSynth does instead.
    pub(crate) reason: String,
    #[serde(skip)]
    used: Cell<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PresetKind {
    Melodic,
    Drums,
}

impl Exceptions {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// The exception that explains a difference beyond the limit. `at` measures the note again at another
    /// velocity.
    pub(crate) fn explain(
        &self,
        bank: &str,
        note: Note,
        measure: Measure,
        value: f64,
        mut at: impl FnMut(u8) -> anyhow::Result<Option<f64>>,
    ) -> anyhow::Result<Option<&Exception>> {
        for exception in
            self.exception.iter().filter(|exception| exception.covers(bank, note, measure, value))
        {
            let gone = match exception.gone_at_velocity {
                None => true,
                Some(velocity) => at(velocity)?.is_none_or(|value| value.abs() <= measure.limit()),
            };
            if gone {
                exception.used.set(true);
                return Ok(Some(exception));
            }
        }
        Ok(None)
    }

    /// Exceptions for these banks that have explained nothing.
    pub(crate) fn unused(&self, banks: &[&str]) -> impl Iterator<Item = &Exception> {
        let here = |exception: &&Exception| banks.contains(&exception.bank.as_str());
        self.exception.iter().filter(here).filter(|exception| !exception.used.get())
    }
}

impl Exception {
    fn covers(&self, bank: &str, note: Note, measure: Measure, value: f64) -> bool {
        let kind = if note.is_drum() { PresetKind::Drums } else { PresetKind::Melodic };
        self.bank == bank
            && self.presets == kind
            && self.programs.as_ref().is_none_or(|programs| programs.contains(&note.program))
            && self.keys.as_ref().is_none_or(|keys| keys.contains(&note.key))
            && self.measures.contains(&measure)
            && value.abs() <= self.at_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
[[exception]]
bank = "A"
presets = "melodic"
programs = [3, 4]
measures = ["bands", "decay"]
at_most = 6.0
gone_at_velocity = 127
clause = "8.4.2"
reason = "left out"
"#;

    #[test]
    fn an_exception_covers_what_it_names() {
        let exceptions: Exceptions = toml::from_str(FILE).expect("reads");
        let note = |program| Note { bank: 0, program, key: 60 };
        let explained = |bank: &str, program, measure, value, again: f64| {
            let found = exceptions.explain(bank, note(program), measure, value, |velocity| {
                assert_eq!(velocity, 127);
                Ok(Some(again))
            });
            found.expect("measures").is_some()
        };
        assert_eq!(exceptions.unused(&["A"]).count(), 1);
        assert!(explained("A", 3, Measure::Bands, 2.0, 0.3));
        assert!(explained("A", 4, Measure::Decay, -6.0, 4.9));
        assert!(!explained("A", 3, Measure::Bands, 2.0, 1.6), "still there at the other velocity");
        assert!(!explained("A", 3, Measure::Bands, 6.1, 0.0), "too much");
        assert!(!explained("A", 5, Measure::Bands, 2.0, 0.0), "another program");
        assert!(!explained("A", 3, Measure::Pitch, 2.0, 0.0), "another measure");
        assert!(!explained("B", 3, Measure::Bands, 2.0, 0.0), "another bank");
        assert_eq!(exceptions.unused(&["A", "B"]).count(), 0);
    }
}
