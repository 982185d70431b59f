//! Tests of sessions with clips and with the effects of `test_kinds.rs`.

mod compensation;
mod edits_while_playing;
mod inserts;

use alloc::vec;
use alloc::vec::Vec;

use super::{Mixer, Slots};
use crate::render::{OfflineRender, TailConfig};
use crate::session::{Audio, AudioSlot, Clip, EffectSettings, SendSettings, Session, Track};

/// Length in frames of the noise that clips play.
const NOISE_FRAMES: usize = 20_000;

/// Returns low-level noise. It is the same for every call, and different for left and right.
fn noise() -> AudioSlot {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / 8_388_608.0 - 1.0) * 0.125
    };
    let side: [Vec<f32>; 2] = core::array::from_fn(|_| (0..NOISE_FRAMES).map(|_| next()).collect());
    AudioSlot::Whole(Audio::from_channels(&side[0], Some(&side[1])))
}

/// Creates a track that plays the noise from frame 1,000 on, with a gain.
fn noisy(id: &str, gain: f32) -> Track {
    let clip = Clip {
        frame: 1_000,
        offset_frames: 0,
        length_frames: NOISE_FRAMES as u64,
        gain,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: id.into(), clips: vec![clip], ..Track::default() }
}

fn effect(id: &str, kind: &str) -> EffectSettings {
    EffectSettings {
        id: id.into(),
        kind: kind.into(),
        values: Vec::new(),
        bypass: false,
        side_chain: None,
        audio_slot: None,
    }
}

fn delaying_effect() -> EffectSettings {
    effect("latent", "test_latent")
}

fn send(to: u32, gain: f32, pre_fader: bool) -> SendSettings {
    SendSettings { to, gain, pre_fader }
}

fn bus(id: &str) -> Track {
    Track { id: id.into(), ..Track::default() }
}

fn session(tracks: Vec<Track>) -> Session {
    Session { length_frames: 1_000 + NOISE_FRAMES as u64, tracks, ..Session::default() }
}

fn mixer(session: &Session) -> Mixer {
    Mixer::new(session, Slots { banks: &[], audio: &[Some(noise())] }).expect("the session is valid")
}

/// Returns left and right of a complete render.
fn render(session: &Session) -> [Vec<f32>; 2] {
    let slots = Slots { banks: &[], audio: &[Some(noise())] };
    let mut render = OfflineRender::new(session, slots, TailConfig::default()).expect("the session is valid");
    let mut output = [Vec::new(), Vec::new()];
    while let Some((left, right)) = render.next_block() {
        output[0].extend_from_slice(left);
        output[1].extend_from_slice(right);
    }
    output
}

fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, value| peak.max(value.abs()))
}

/// Returns the index of the track with an id.
fn index_of(session: &Session, id: &str) -> u32 {
    session.tracks.iter().position(|track| track.id == id).expect("the session has a track with this id")
        as u32
}
