//! Tests of latency compensation: a signal and its inverse cancel, even if only one of them has
//! effects with latency.

use dsp_core::effects::effect_kind;
use dsp_core::session::{AutomationTarget, Clip, Curve, EffectSettings, Event, SendSettings, Session, Track};

use crate::full::{SECOND, effect, lane, mixer, play, point};
use crate::sessions::{peak, session, track};

/// Returns a track of quiet noise. A `sign` of -1 inverts the noise.
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

/// Returns a limiter below its threshold and a saturator with a mix of 0, which have only latency.
fn latent() -> Vec<EffectSettings> {
    let saturator = effect_kind("saturator").unwrap();
    let mut values: Vec<f64> = saturator.parameters.iter().map(|parameter| parameter.default).collect();
    values[saturator.parameter_index("mix").unwrap()] = 0.0;
    vec![effect("limiter", "limiter", &[]), effect("saturator", "saturator", &values)]
}

/// Checks that the sum of tracks of noise and inverted noise is below -140 dBFS.
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
    let (single_output, _) = output(&session(not_inverted));
    let remaining_db = 20.0 * libm::log10(remaining.max(1e-20));
    println!(
        "{label}: {remaining_db:.1} dBFS remain of {:.1}, with a latency of {latency_frames} frames",
        20.0 * libm::log10(single_output)
    );
    assert!(
        single_output > 0.01 && latency_frames > 100,
        "{label}: a peak of {single_output} and a latency of {latency_frames} frames"
    );
    assert!(remaining_db < -140.0, "{label}: {remaining_db} dBFS remain");
}

#[test]
fn limiters_and_saturators_are_latency_compensated() {
    let late = |id, sign| Track { effects: latent(), ..noise(id, sign) };
    let to = |output_index, track| Track { output: Some(output_index), ..track };
    check_null("a track with latency", &[late("a", 1.0), noise("b", -1.0)]);
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
        let automated_track = |track| Track {
            automation: vec![
                lane(
                    AutomationTarget::Volume,
                    &[point(0, -30.0, curve), point(2_400, 0.0, curve), point(4_801, -12.0, curve)],
                ),
                lane(AutomationTarget::Pan, &[point(100, -0.7, curve), point(9_001, 0.9, curve)]),
            ],
            ..track
        };
        check_null("automated faders", &[automated_track(late("a", 1.0)), automated_track(noise("b", -1.0))]);
    }
    // The output of the track is a muted group, so the track is audible only through its send to a
    // bus with latency.
    let sends = vec![SendSettings { to: 2, gain: 1.0, pre_fader: true }];
    let sending = Track { sends, ..to(3, noise("a", 1.0)) };
    check_null("a send", &[sending, noise("b", -1.0), late_group(), Track { mute: true, ..bus("closed") }]);
}

#[test]
fn reverb_sends_are_delayed_by_the_latency_of_the_effects() {
    // Some pauses between the notes are long enough for the send to become silent.
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
    // The first track has the latency of the mix itself.
    let ((least_latency, early), (latency, late)) = (output(&early), output(&late));
    assert!(
        latency > least_latency + 100,
        "a latency of {latency} frames, only {least_latency} without effects"
    );
    assert!(peak(&early[0][120_000..]) > 1e-6, "the reverb is silent");
    for (early, late) in early.iter().zip(&late) {
        let difference = early
            .iter()
            .zip(late)
            .fold(0.0_f32, |largest_difference, (a, b)| largest_difference.max((a - b).abs()));
        assert!(difference < 1e-7, "a difference of {difference}");
    }
}
