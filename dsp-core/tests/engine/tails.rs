//! Tests that a render contains the whole tail and then ends.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots};
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Audio, AudioSlot, Clip, EffectSettings, SendSettings, Session, Track};

use crate::full::{SECOND, effect, play};
use crate::sessions::session;

/// Peak up to which a mix counts as silent: -80 dBFS.
const SILENCE: f32 = 1e-4;

/// Length of the sound in frames: 50 ms.
const SOUND_FRAMES: u64 = SECOND / 20;

/// Maximum tail of the renders in these tests, in seconds.
const TAIL_SECS: u64 = 5;

/// Returns an effect with some of its parameters set and the defaults for all others.
pub(crate) fn effect_with(kind: &str, set: &[(&str, f64)]) -> EffectSettings {
    let table = effect_kind(kind).unwrap();
    let mut values: Vec<f64> = table.parameters.iter().map(|parameter| parameter.default).collect();
    for (id, value) in set {
        values[table.parameter_index(id).unwrap()] = *value;
    }
    effect(kind, kind, &values)
}

fn delay(time_ms: f64, mix: f64) -> EffectSettings {
    effect_with("delay", &[("sync", 0.0), ("time_ms", time_ms), ("feedback", 0.0), ("mix", mix)])
}

/// Returns a track that sounds for 50 ms from frame `start` on, with these effects.
fn sound(start: u64, effects: Vec<EffectSettings>) -> Track {
    let clip = Clip {
        frame: start,
        offset_frames: 0,
        length_frames: SOUND_FRAMES,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: "sound".into(), clips: vec![clip], effects, ..Track::default() }
}

fn bus(id: &str, effects: Vec<EffectSettings>) -> Track {
    Track { id: id.into(), effects, ..Track::default() }
}

/// Returns a session that ends after 50 ms.
fn short_session(tracks: Vec<Track>) -> Session {
    Session { length_frames: SOUND_FRAMES, ..session(tracks) }
}

/// Returns a square wave, and an impulse response with a single impulse after 1.5 s.
fn audio() -> [Option<AudioSlot>; 2] {
    let whole_audio = |values: &[f32]| Some(AudioSlot::Whole(Audio::from_channels(values, None)));
    let sound: Vec<f32> =
        (0..SOUND_FRAMES).map(|frame| if frame % 100 < 50 { 0.25 } else { -0.25 }).collect();
    let mut response = vec![0.0; 3 * SECOND as usize / 2];
    response.push(1.0);
    [whole_audio(&sound), whole_audio(&response)]
}

/// Renders a session and returns both channels.
fn render(session: &Session, audio: &[Option<AudioSlot>], max_secs: f64) -> [Vec<f32>; 2] {
    let mut render =
        OfflineRender::new(session, Slots { banks: &[], audio }, TailConfig { max_secs }).unwrap();
    let mut output = [Vec::new(), Vec::new()];
    while let Some((left, right)) = render.next_block() {
        output[0].extend_from_slice(left);
        output[1].extend_from_slice(right);
        assert!(left.len() <= 256 && left.len() == right.len());
        let done_frames = render.done_frames();
        assert!(done_frames == output[0].len() as u64 && done_frames <= render.max_frames());
    }
    output
}

/// Returns the output of a mixer for a session and the maximum tail after it.
fn mixer_output(session: &Session, audio: &[Option<AudioSlot>]) -> [Vec<f32>; 2] {
    let mut mixer = Mixer::new(session, Slots { banks: &[], audio }).unwrap();
    mixer.play();
    let latency_frames = mixer.latency_frames();
    let frames = latency_frames + (session.length_frames + TAIL_SECS * SECOND) as usize;
    let both_tracks = play(&mut mixer, frames, &[256]);
    [&both_tracks[latency_frames..frames], &both_tracks[frames + latency_frames..]].map(<[f32]>::to_vec)
}

/// Checks that a render contains the whole tail and ends a tenth of a second after it, or with the
/// session if that is later. The output must equal that of a mixer. Returns the frame after the
/// last audible frame.
#[track_caller]
fn check(label: &str, session: &Session) -> u64 {
    let audio = audio();
    let expected = mixer_output(session, &audio);
    let last_audible = |values: &[f32]| values.iter().rposition(|value| value.abs() > SILENCE);
    let last =
        expected.iter().filter_map(|values| last_audible(values)).max().map_or(0, |last| last as u64 + 1);
    let rendered_output = render(session, &audio, TAIL_SECS as f64);
    let frames = rendered_output[0].len() as u64;
    println!("{label}: {frames} frames are rendered, {last} are audible");
    assert!(frames >= last, "{label}: {} audible frames are missing", last - frames);
    let quiet_frames = SECOND / 10;
    let longest = session.length_frames.max(last + quiet_frames + 2 * 256);
    assert!(frames <= longest, "{label}: the render ends with {} silent frames", frames - last);
    for (rendered_output, expected) in rendered_output.iter().zip(&expected) {
        assert!(
            *rendered_output == expected[..rendered_output.len()],
            "{label}: the samples differ from those of a mixer"
        );
    }
    last
}

#[test]
fn echoes_after_the_end_are_rendered() {
    let session_with_effects = |effects| short_session(vec![sound(0, effects)]);
    let end = check("no effects", &session_with_effects(vec![]));
    assert_eq!(end, SOUND_FRAMES);
    let end = check("a delay with its defaults", &session_with_effects(vec![effect_with("delay", &[])]));
    assert!(end > SECOND, "{end}");
    let repeating = effect_with("delay", &[("sync", 0.0), ("mix", 0.5), ("feedback", 0.5)]);
    let end = check("a delay that repeats", &session_with_effects(vec![repeating]));
    assert!(end > 3 * SECOND, "{end}");
    let pre_delayed = effect_with("reverb", &[("pre_delay_ms", 150.0), ("mix", 1.0)]);
    let end = check("a reverb after its pre-delay", &session_with_effects(vec![pre_delayed]));
    assert!(end > SECOND / 2, "{end}");
    let late_only = [("pre_delay_ms", 80.0), ("size", 1.0), ("early", 0.0), ("diffusion", 0.0), ("mix", 1.0)];
    check(
        "a reverb without early reflections",
        &session_with_effects(vec![effect_with("reverb", &late_only)]),
    );
    let mut response =
        effect_with("convolution", &[("response", 0.0), ("pre_delay_ms", 250.0), ("mix", 1.0)]);
    response.audio_slot = Some(1);
    let end = check("a response after a pre-delay", &session_with_effects(vec![response]));
    assert!(end > 7 * SECOND / 4, "{end}");
    let slow_tremolo = effect_with("tremolo", &[("rate_hz", 0.9), ("depth", 1.0), ("shape", 2.0)]);
    let hall = effect_with("reverb", &[("decay_secs", 6.0), ("mix", 1.0)]);
    let end = check("a reverb before a slow tremolo", &session_with_effects(vec![hall, slow_tremolo]));
    assert!(end > 2 * SECOND, "{end}");
    let swings = [("cutoff_hz", 400.0), ("lfo_rate_hz", 0.7), ("lfo_octaves", 5.0)];
    let bright_reverb = [("decay_secs", 6.0), ("mix", 1.0), ("low_cut_hz", 1_500.0)];
    let end = check(
        "a bright reverb before a filter that opens periodically",
        &session_with_effects(vec![effect_with("reverb", &bright_reverb), effect_with("filter", &swings)]),
    );
    assert!(end > SECOND, "{end}");
    let ping_pong = effect_with("delay", &[("sync", 0.0), ("time_ms", 300.0), ("mode", 1.0), ("mix", 1.0)]);
    let left_only = Track { pan: -1.0, ..sound(0, vec![ping_pong]) };
    check("a ping-pong delay of a sound on the left", &short_session(vec![left_only]));
}

#[test]
fn silences_add_up_along_a_route() {
    let late = || vec![delay(400.0, 1.0)];
    let end = check("two delays", &short_session(vec![sound(0, vec![delay(400.0, 1.0), delay(300.0, 1.0)])]));
    assert!(end > 7 * SECOND / 10, "{end}");
    let in_a_group = Track { output: Some(1), ..sound(0, late()) };
    let group = |effects| Track { output: Some(2), ..bus("group", effects) };
    let mut grouped_session = short_session(vec![in_a_group, group(late()), bus("outer", late())]);
    grouped_session.master_effects = late();
    let end = check("a track, its groups and the master", &grouped_session);
    assert!(end > 16 * SECOND / 10, "{end}");
    let mut sends = sound(0, vec![]);
    sends.sends = vec![SendSettings { to: 1, gain: 0.5, pre_fader: true }];
    let end = check("a send", &short_session(vec![sends, bus("echo", late())]));
    assert!(end > 4 * SECOND / 10, "{end}");
    // Latencies do not count as silence, because they are compensated.
    let latent = vec![effect_with("limiter", &[]), effect_with("saturator", &[]), delay(400.0, 1.0)];
    check(
        "effects with latency",
        &short_session(vec![sound(0, latent), Track { id: "dry".into(), ..sound(0, vec![]) }]),
    );
}

#[test]
fn silence_counts_from_the_end_of_the_session() {
    let mut late = short_session(vec![sound(2 * SECOND, vec![delay(300.0, 1.0)])]);
    late.length_frames = 2 * SECOND + SOUND_FRAMES;
    let end = check("an echo after the end of the session", &late);
    assert!(end > 23 * SECOND / 10, "{end}");
    let mut early = short_session(vec![sound(0, vec![delay(300.0, 1.0)])]);
    early.length_frames = 3 * SECOND;
    assert!(check("an echo before the end of the session", &early) < SECOND / 2);
}

#[test]
fn bypassed_effects_add_no_silence() {
    let off = EffectSettings { bypass: true, ..delay(400.0, 1.0) };
    assert_eq!(check("a bypassed delay", &short_session(vec![sound(0, vec![off])])), SOUND_FRAMES);
    let bypassed_track = Track { bypass: true, ..sound(0, vec![delay(400.0, 1.0)]) };
    assert_eq!(check("a bypassed track", &short_session(vec![bypassed_track])), SOUND_FRAMES);
}

#[test]
fn a_tail_is_at_most_the_configured_length() {
    let echo = short_session(vec![sound(0, vec![delay(400.0, 0.5)])]);
    let longest = |secs: f64| SOUND_FRAMES as usize + (secs * SECOND as f64) as usize;
    for (max_secs, expected) in [(0.0, longest(0.0)), (0.05, longest(0.05)), (0.38, longest(0.38))] {
        assert_eq!(render(&echo, &audio(), max_secs)[0].len(), expected, "{max_secs} s");
    }
    let before_the_echo = render(&echo, &audio(), 0.3)[0].len();
    assert!(
        before_the_echo <= longest(0.1) + 512,
        "the render waits {before_the_echo} frames for an echo beyond the limit"
    );
}
