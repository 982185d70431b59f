//! Reports samples of SoundFonts that a project plays but that cannot be decoded.

use dsp_core::soundfont::Bank;

/// Samples of a SoundFont that are silent in a render, because they cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSamples {
    /// Id of the SoundFont.
    soundfont_id: String,
    /// Number of the samples.
    count: usize,
    /// The first sample, and the reason why it cannot be decoded.
    first_sample: String,
}

impl DamagedSamples {
    /// Returns the samples of these presets that could not be decoded; `None` if there are none.
    /// The presets must have been prepared.
    pub(super) fn find(bank: &Bank, soundfont_id: &str, presets: &[(u16, u8)]) -> Option<Self> {
        let undecodable_samples = bank.undecodable(presets);
        let first_sample = undecodable_samples.first()?.to_string();
        Some(Self { soundfont_id: soundfont_id.to_owned(), count: undecodable_samples.len(), first_sample })
    }

    /// Describes the samples in a sentence.
    pub(super) fn in_words(&self) -> String {
        let Self { soundfont_id, count, first_sample } = self;
        match count {
            1 => format!("A sample of the SoundFont `{soundfont_id}` is silent: {first_sample}."),
            _ => format!(
                "{count} samples of the SoundFont `{soundfont_id}` are silent; the first is: {first_sample}."
            ),
        }
    }
}
