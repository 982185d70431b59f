//! The sessions that are measured.

use std::path::Path;

use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Clip, Session, Track};
use dsp_core::soundfont::Bank;

use super::settings::{kinds, with, working};
use crate::song::{self, RATE_HZ};

/// Tracks of the session of one effect: each plays the same and has the effect once.
pub(crate) const COPIES: usize = 8;
/// Length of that session, in seconds.
const EFFECT_SECS: u64 = 10;
/// Length of what was recorded, in seconds.
const RECORDED_SECS: u64 = 20;
/// Tracks of the whole song.
const TRACKS: usize = 24;
/// What comes third on the tracks of the whole song, behind equalizer and compressor.
const THIRD: [&str; TRACKS] = [
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

/// Audio as if it had been recorded: the beginning of a song as it sounds, 6 dB down, and on top of
/// it bursts of noise, 50 ms out of every 250. Left and right by turns.
pub(super) fn recorded(session: &Session, bank: &Bank) -> anyhow::Result<Vec<f32>> {
    let banks = [Some(bank.clone())];
    let mut render = OfflineRender::new(session, &banks, TailConfig { max_secs: 0.0 })?;
    let mut values = Vec::new();
    let mut seed = 1_u64;
    while let Some((left, right)) = render.next_block() {
        for (left, right) in left.iter().zip(right) {
            let is_burst = values.len() as u32 / 2 % (RATE_HZ / 4) < RATE_HZ / 20;
            for value in [left, right] {
                // Knuth's constants of MMIX.
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let noise = (seed >> 40) as f32 / 16_777_216.0 - 0.5;
                values.push(0.5 * value + if is_burst { 0.5 * noise } else { 0.0 });
            }
        }
        if values.len() as u64 >= 2 * RECORDED_SECS * u64::from(RATE_HZ) {
            break;
        }
    }
    Ok(values)
}

/// A track that plays what was recorded, over and over, from a place in it on.
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

/// [`COPIES`] tracks, each with an effect of this kind, or with none.
fn of_one(kind: Option<&str>) -> anyhow::Result<Session> {
    let length_frames = EFFECT_SECS * u64::from(RATE_HZ);
    let mut session = Session { sample_rate_hz: RATE_HZ, length_frames, ..Session::default() };
    for copy in 0..COPIES {
        let mut track = audio_track(copy.to_string(), 0, length_frames);
        track.effects.extend(kind.map(working).transpose()?);
        session.tracks.push(track);
    }
    Ok(session)
}

/// A song's tracks, and as many that play what was recorded as make [`TRACKS`]; all with three
/// effects.
fn whole_song(mut session: Session) -> anyhow::Result<Session> {
    session.tracks.retain(|track| !track.events.is_empty());
    anyhow::ensure!(!session.tracks.is_empty(), "the song has no notes");
    for place in session.tracks.len()..TRACKS {
        let offset_frames = place as u64 * u64::from(RATE_HZ) / 2;
        session.tracks.push(audio_track(format!("audio-{place}"), offset_frames, session.length_frames));
    }
    session.tracks.truncate(TRACKS);
    for (track, third) in session.tracks.iter_mut().zip(THIRD) {
        let equalizer = with(
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
        track.effects = vec![equalizer, working("compressor")?, working(third)?];
    }
    Ok(session)
}

/// All sessions by their names: [`super::PLAIN`], one for each kind of effect, and [`super::SONG`].
pub(super) fn all(song: &Path) -> anyhow::Result<Vec<(&'static str, Session)>> {
    let mut sessions = vec![(super::PLAIN, of_one(None)?), (super::SONG, whole_song(song::session(song)?)?)];
    for kind in kinds() {
        sessions.push((kind, of_one(Some(kind))?));
    }
    Ok(sessions)
}
