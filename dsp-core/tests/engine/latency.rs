//! Latency compensation: a signal and its inverse cancel, whatever the latency of the effects on
//! either.

use dsp_core::effects::effect_kind;
use dsp_core::session::{AutomationTarget, Clip, Curve, EffectSettings, Event, SendSettings, Session, Track};

use crate::full::{SECOND, effect, lane, mixer, play, point};
use crate::sessions::{peak, session, track};

/// A track of quiet noise; `sign` -1 inverts it.
fn noise(id: &str, sign: f32) -> Track {
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: SECOND,
        gain: sign,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: id.to_owned(), clips: vec![clip], ..Track::default() }
}

fn bus(id: &str) -> Track {
    Track { id: id.to_owned(), ..Track::default() }
}

/// A limiter below its threshold and a saturator with mix 0: latency and no other effect.
fn latent() -> Vec<EffectSettings> {
    let saturator = effect_kind("saturator").unwrap();
    let mut values: Vec<f64> = saturator.parameters.iter().map(|parameter| parameter.default).collect();
    values[saturator.parameter_index("mix").unwrap()] = 0.0;
    vec![effect("limiter", "limiter", &[]), effect("saturator", "saturator", &values)]
}

/// Checks that tracks of noise and inverted noise cancel to -140 dBFS.
fn check_null(label: &str, tracks: &[Track]) {
    let output = |session: &Session| {
        let mut mixer = mixer(session);
        mixer.play();
        let frames = mixer.latency_frames() + SECOND as usize;
        (f64::from(peak(&play(&mut mixer, frames, &[256]))), mixer.latency_frames())
    };
    let (remaining, latency_frames) = output(&session(tracks.to_vec()));
    let not_inverted: Vec<Track> = tracks
        .iter()
        .cloned()
        .map(|mut track| {
            track.clips.retain(|clip| clip.gain > 0.0);
            track
        })
        .collect();
    let (alone, _) = output(&session(not_inverted));
    let remaining_db = 20.0 * libm::log10(remaining.max(1e-20));
    println!(
        "{label}: {remaining_db:.1} dBFS of {:.1}, {latency_frames} frames late",
        20.0 * libm::log10(alone)
    );
    assert!(alone > 0.01 && latency_frames > 100, "{label}: {alone}, {latency_frames} frames");
    assert!(remaining_db < -140.0, "{label}: {remaining_db} dBFS remain");
}

#[test]
fn limiters_and_saturators_are_latency_compensated() {
    let late = |id, sign| Track { effects: latent(), ..noise(id, sign) };
    let to = |output_index, track| Track { output: Some(output_index), ..track };
    check_null("tracks", &[late("a", 1.0), noise("b", -1.0)]);
    check_null("a bypassed chain", &[Track { bypass: true, ..late("a", 1.0) }, noise("b", -1.0)]);
    let mut off = late("a", 1.0);
    off.effects.iter_mut().for_each(|effect| effect.bypass = true);
    check_null("bypassed effects", &[off, noise("b", -1.0)]);
    let late_group = || Track { effects: latent(), ..bus("g") };
    check_null(
        "a track with latency in a group",
        &[to(2, late("a", 1.0)), to(2, noise("b", -1.0)), late_group()],
    );
    check_null("a group with latency", &[to(2, noise("a", 1.0)), noise("b", -1.0), late_group()]);
    for curve in [Curve::Linear, Curve::Arc(0.5), Curve::Step] {
        let moved = |track| Track {
            automation: vec![
                lane(
                    AutomationTarget::Volume,
                    &[point(0, -30.0, curve), point(2_400, 0.0, curve), point(4_801, -12.0, curve)],
                ),
                lane(AutomationTarget::Pan, &[point(100, -0.7, curve), point(9_001, 0.9, curve)]),
            ],
            ..track
        };
        check_null("automated faders", &[moved(late("a", 1.0)), moved(noise("b", -1.0))]);
    }
    // Everything passes a send to a bus with latency; the output ends in a muted group.
    let sends = vec![SendSettings { to: 2, gain: 1.0, pre_fader: true }];
    let sending = Track { sends, ..to(3, noise("a", 1.0)) };
    check_null("a send", &[sending, noise("b", -1.0), late_group(), Track { mute: true, ..bus("closed") }]);
}

#[test]
fn reverb_sends_are_delayed_by_the_effects_to_the_last_frame() {
    // With pauses long enough for the send to become silent, and a short one.
    let notes = [(0, 4_800, 60), (24_000, 26_000, 64), (26_100, 31_007, 67), (60_000, 60_700, 72)];
    let mut early = track("notes", &notes);
    early.events[0].event = Event::Controller { controller: 91, value: 127 };
    let late = Track { effects: latent(), bypass: true, ..early.clone() };
    let output = |track: &Track| {
        let mut mixer = mixer(&session(vec![track.clone()]));
        mixer.play();
        let latency = mixer.latency_frames();
        let frames = latency + 3 * SECOND as usize;
        let output = play(&mut mixer, frames, &[256, 100]);
        (latency, [output[latency..frames].to_vec(), output[frames + latency..].to_vec()])
    };
    // The mix itself has latency.
    let ((least, early), (latency, late)) = (output(&early), output(&late));
    assert!(latency > least + 100, "{latency} instead of {least} frames late");
    assert!(peak(&early[0][120_000..]) > 1e-6, "no reverb");
    for (early, late) in early.iter().zip(&late) {
        let off = early.iter().zip(late).fold(0.0_f32, |off, (a, b)| off.max((a - b).abs()));
        assert!(off < 1e-7, "{off} apart");
    }
}
