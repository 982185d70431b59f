//! Checks that a session fits into the memory of the audio thread's WebAssembly module.

use dsp_core::mixer::{MixerError, Slots};
use dsp_core::session::{AudioSlot, Session};

/// Limit of the engine's memory for one session, in bytes. It equals the service's default limit
/// for a render. WebAssembly can address 4 GiB; SoundFonts, short recordings and, during an edit,
/// the previous session share that space.
const SESSION_MAX_BYTES: u64 = 360 * 1024 * 1024;

/// Reason why a session is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MemoryError {
    /// The mixer cannot play the routes of the session.
    #[error(transparent)]
    Mixer(#[from] MixerError),
    /// The session needs more memory than [`SESSION_MAX_BYTES`].
    #[error(
        "the song needs about {needed_mib} MiB of memory, but a song may use {limit_mib} MiB in a page; \
         largest part: {largest_mib} MiB for {largest}"
    )]
    TooMuch {
        /// Memory that the session needs, in MiB.
        needed_mib: u64,
        /// Memory that a session may need, in MiB.
        limit_mib: u64,
        /// Kind and number of the components that need most memory, such as `delay effects (1000)`.
        largest: String,
        /// Memory that these components need, in MiB.
        largest_mib: u64,
    },
}

/// Refuses a session that needs too much memory before the audio thread builds it. `audio` yields
/// the slot and the length in frames of each audio file.
pub(crate) fn check(session: &Session, audio: impl Iterator<Item = (u32, u64)>) -> Result<(), MemoryError> {
    let mut slots = Vec::new();
    for (slot, frames) in audio {
        let slot = slot as usize;
        if slots.len() <= slot {
            slots.resize_with(slot + 1, || None);
        }
        slots[slot] = Some(AudioSlot::Streamed { frames });
    }
    let need = session.memory_need(Slots { banks: &[], audio: &slots })?;
    let mib = |bytes: u64| bytes.div_ceil(1024 * 1024);
    match need.components().first() {
        Some(component) if need.bytes() > SESSION_MAX_BYTES => Err(MemoryError::TooMuch {
            needed_mib: mib(need.bytes()),
            limit_mib: mib(SESSION_MAX_BYTES),
            largest: format!("{} ({})", component.kind, component.count),
            largest_mib: mib(component.bytes),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use dsp_core::session::{EffectSettings, Track};

    use super::*;

    fn session_with_delays(count: usize) -> Session {
        let effect = |number: usize| EffectSettings {
            id: format!("e{number}"),
            kind: "delay".to_owned(),
            values: Vec::new(),
            bypass: false,
            side_chain: None,
            audio_slot: None,
        };
        let track = |number: usize| Track {
            id: format!("t{number}"),
            effects: (0..50).map(effect).collect(),
            ..Track::default()
        };
        Session { sample_rate_hz: 48_000, tracks: (0..count / 50).map(track).collect(), ..Session::default() }
    }

    #[test]
    fn a_session_with_too_many_delays_is_refused_with_a_reason() {
        assert_eq!(check(&session_with_delays(150), core::iter::empty()), Ok(()));
        let error =
            check(&session_with_delays(1_000), [(3, 48_000)].into_iter()).expect_err("too much").to_string();
        assert!(error.contains("largest part: 2"), "{error}");
        assert!(error.ends_with(" MiB for delay effects (1000)"), "{error}");
        assert!(error.contains("a song may use 360 MiB"), "{error}");
    }
}
