//! The measured sessions.

use std::path::Path;

use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Clip, Session, Track};
use dsp_core::soundfont::Bank;

use super::settings::{active_effect, effect_ids, effect_with};
use crate::song::{self, RATE_HZ};

/// Number of tracks in the session of one effect. Each plays the same audio and has the effect
/// once.
pub(crate) const EFFECT_TRACKS: usize = 8;
/// Length of the session of one effect in seconds.
const EFFECT_SECS: u64 = 10;
/// Length of the recording in seconds.
pub(super) const RECORDED_SECS: u64 = 20;
/// Number of tracks in the song session.
const TRACKS: usize = 24;
/// The third effect on each track of the song session, after an equalizer and a compressor.
const THIRD_EFFECTS: [&str; TRACKS] = [
    "reverb",
    "delay",
    "chorus",
    "saturator",
    "de_esser",
    "filter",
    "phaser",
    "delay",
    "gate",
    "tremolo",
    "flanger",
    "width",
    "reverb",
    "convolution",
    "limiter",
    "chorus",
    "delay",
    "bit_crusher",
    "saturator",
    "utility",
    "de_esser",
    "reverb",
    "chorus",
    "delay",
];

/// Makes a substitute for a recording in interleaved stereo: the first `secs` seconds of a song at
/// -6 dB, plus a noise burst of 50 ms every 250 ms.
pub(super) fn render_recording(session: &Session, bank: &Bank, secs: u64) -> anyhow::Result<Vec<f32>> {
    let banks = [Some(bank.clone())];
    let mut render = OfflineRender::new(session, &banks, TailConfig { max_secs: 0.0 })?;
    let mut values = Vec::new();
    let mut seed = 1_u64;
    while let Some((left, right)) = render.next_block() {
        for (left, right) in left.iter().zip(right) {
            let is_burst = values.len() as u32 / 2 % (RATE_HZ / 4) < RATE_HZ / 20;
            for value in [left, right] {
                // Linear congruential generator with Knuth's MMIX constants.
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let noise = (seed >> 40) as f32 / 16_777_216.0 - 0.5;
                values.push(0.5 * value + if is_burst { 0.5 * noise } else { 0.0 });
            }
        }
        if values.len() as u64 >= 2 * secs * u64::from(RATE_HZ) {
            break;
        }
    }
    Ok(values)
}

/// Returns a track that loops the recording, starting at `offset_frames`.
fn audio_track(id: String, offset_frames: u64, length_frames: u64) -> Track {
    let clip = Clip {
        frame: 0,
        offset_frames,
        length_frames,
        gain: 0.25,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: true,
        audio_slot: 0,
    };
    Track { id, clips: vec![clip], ..Track::default() }
}

/// Returns a session of [`EFFECT_TRACKS`] tracks, each with one effect of a kind, or with none.
fn effect_session(kind: Option<&str>) -> anyhow::Result<Session> {
    let length_frames = EFFECT_SECS * u64::from(RATE_HZ);
    let mut session = Session { sample_rate_hz: RATE_HZ, length_frames, ..Session::default() };
    for copy in 0..EFFECT_TRACKS {
        let mut track = audio_track(copy.to_string(), 0, length_frames);
        track.effects.extend(kind.map(active_effect).transpose()?);
        session.tracks.push(track);
    }
    Ok(session)
}

/// Adds tracks that loop the recording to a song until it has [`TRACKS`] tracks. Each track has
/// three effects.
fn song_session(mut session: Session) -> anyhow::Result<Session> {
    session.tracks.retain(|track| !track.events.is_empty());
    anyhow::ensure!(!session.tracks.is_empty(), "the song has no notes");
    for index in session.tracks.len()..TRACKS {
        let offset_frames = index as u64 * u64::from(RATE_HZ) / 2;
        session.tracks.push(audio_track(format!("audio-{index}"), offset_frames, session.length_frames));
    }
    session.tracks.truncate(TRACKS);
    for (track, third) in session.tracks.iter_mut().zip(THIRD_EFFECTS) {
        let equalizer = effect_with(
            "equalizer",
            &[
                ("low_cut_on", 1.0),
                ("low_cut_slope", 0.0),
                ("low_cut_frequency_hz", 60.0),
                ("bell_1_gain_db", -3.0),
                ("bell_3_gain_db", 2.0),
                ("high_shelf_gain_db", 2.5),
            ],
        )?;
        track.effects = vec![equalizer, active_effect("compressor")?, active_effect(third)?];
    }
    Ok(session)
}

/// Returns all sessions with their names: [`super::PLAIN`], [`super::SONG`] and one for each
/// effect.
pub(super) fn all(song: &Path) -> anyhow::Result<Vec<(&'static str, Session)>> {
    let mut sessions =
        vec![(super::PLAIN, effect_session(None)?), (super::SONG, song_session(song::read_session(song)?)?)];
    for kind in effect_ids() {
        sessions.push((kind, effect_session(Some(kind))?));
    }
    Ok(sessions)
}
