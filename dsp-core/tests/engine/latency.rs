//! Effects that take their time keep nothing waiting: what is opposite cancels, wherever they
//! stand.

use dsp_core::effects::effect_kind;
use dsp_core::session::{AutomationTarget, Clip, Curve, EffectSettings, Event, SendSettings, Session, Track};

use crate::full::{SECOND, effect, lane, mixer, play, point};
use crate::sessions::{peak, session, track};

/// Quiet noise, upright or upside down.
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

/// A limiter that has nothing to do, and a saturator of which none is mixed in: late, and nothing
/// else.
fn latent() -> Vec<EffectSettings> {
    let saturator = effect_kind("saturator").unwrap();
    let mut values: Vec<f64> = saturator.parameters.iter().map(|parameter| parameter.default).collect();
    values[saturator.parameter_index("mix").unwrap()] = 0.0;
    vec![effect("limiter", "limiter", &[]), effect("saturator", "saturator", &values)]
}

/// What is left of the noise, in decibels below what is heard without its opposite.
fn check_null(what: &str, tracks: &[Track]) {
    let heard = |session: &Session| {
        let mut mixer = mixer(session);
        mixer.play();
        let frames = mixer.latency_frames() + SECOND as usize;
        (f64::from(peak(&play(&mut mixer, frames, &[256]))), mixer.latency_frames())
    };
    let (rest, latency_frames) = heard(&session(tracks.to_vec()));
    let upright: Vec<Track> = tracks
        .iter()
        .cloned()
        .map(|mut track| {
            track.clips.retain(|clip| clip.gain > 0.0);
            track
        })
        .collect();
    let (alone, _) = heard(&session(upright));
    let rest_db = 20.0 * libm::log10(rest.max(1e-20));
    println!("{what}: {rest_db:.1} dBFS of {:.1}, {latency_frames} frames late", 20.0 * libm::log10(alone));
    assert!(alone > 0.01 && latency_frames > 100, "{what}: {alone}, {latency_frames} frames");
    assert!(rest_db < -140.0, "{what}: {rest_db} dBFS are left");
}

#[test]
fn limiters_and_saturators_cancel_against_nothing_at_all() {
    let late = |id, sign| Track { effects: latent(), ..noise(id, sign) };
    let to = |place, track| Track { output: Some(place), ..track };
    check_null("tracks", &[late("a", 1.0), noise("b", -1.0)]);
    check_null("a bypassed chain", &[Track { bypass: true, ..late("a", 1.0) }, noise("b", -1.0)]);
    let mut off = late("a", 1.0);
    off.effects.iter_mut().for_each(|effect| effect.bypass = true);
    check_null("bypassed effects", &[off, noise("b", -1.0)]);
    let late_group = || Track { effects: latent(), ..bus("g") };
    check_null("a late track in a group", &[to(2, late("a", 1.0)), to(2, noise("b", -1.0)), late_group()]);
    check_null("a late group", &[to(2, noise("a", 1.0)), noise("b", -1.0), late_group()]);
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
    // All of it by a send to a late bus; the output ends in a group that is muted.
    let sends = vec![SendSettings { to: 2, gain: 1.0, pre_fader: true }];
    let sending = Track { sends, ..to(3, noise("a", 1.0)) };
    check_null("a send", &[sending, noise("b", -1.0), late_group(), Track { mute: true, ..bus("closed") }]);
}

#[test]
fn what_is_sent_to_the_shared_reverb_waits_for_effects_to_its_last_frame() {
    // With rests in which nothing is sent any more, and none.
    let notes = [(0, 4_800, 60), (24_000, 26_000, 64), (26_100, 31_007, 67), (60_000, 60_700, 72)];
    let mut early = track("notes", &notes);
    early.events[0].event = Event::Controller { controller: 91, value: 127 };
    let late = Track { effects: latent(), bypass: true, ..early.clone() };
    let heard = |track: &Track| {
        let mut mixer = mixer(&session(vec![track.clone()]));
        mixer.play();
        let latency = mixer.latency_frames();
        let frames = latency + 3 * SECOND as usize;
        let heard = play(&mut mixer, frames, &[256, 100]);
        (latency, [heard[latency..frames].to_vec(), heard[frames + latency..].to_vec()])
    };
    // The mix has a latency of its own.
    let ((least, early), (latency, late)) = (heard(&early), heard(&late));
    assert!(latency > least + 100, "{latency} instead of {least} frames late");
    assert!(peak(&early[0][120_000..]) > 1e-6, "no reverb");
    for (early, late) in early.iter().zip(&late) {
        let off = early.iter().zip(late).fold(0.0_f32, |off, (a, b)| off.max((a - b).abs()));
        assert!(off < 1e-7, "{off} apart");
    }
}
