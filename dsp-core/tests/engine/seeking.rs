//! Tests that ten seconds after a seek, automated effects have the same output as when playing from
//! the start.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots};
use dsp_core::session::{
    Audio, AudioSlot, AutomationLane, AutomationPoint, AutomationTarget, Clip, Curve, Event, Session, Track,
    TrackEvent,
};

use crate::full::{SECOND, effect, lane, media, play, point};
use crate::sessions::{peak, session as notes, track};

/// Frame of the seek, which is not on the control grid.
const SEEK_FRAME: u64 = 8 * SECOND + 39;

/// Returns noise with a peak of -12 dBFS.
fn noise(frames: u64) -> AudioSlot {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / 8_388_608.0 - 1.0) * 0.25
    };
    let values: Vec<f32> = (0..frames).map(|_| next()).collect();
    AudioSlot::Whole(Audio::from_channels(&values, None))
}

/// Returns a session with a track of noise and one effect, with lanes for some of its parameters.
fn session(kind: &str, values: &[(&str, f64)], lanes: &[(&str, &[AutomationPoint])]) -> Session {
    let kind_table = effect_kind(kind).unwrap();
    let index_of = |id: &str| kind_table.parameter_index(id).unwrap();
    let mut all: Vec<f64> = kind_table.parameters.iter().map(|parameter| parameter.default).collect();
    values.iter().for_each(|(id, value)| all[index_of(id)] = *value);
    let lane_of = |(id, points): &(&str, &[AutomationPoint])| -> AutomationLane {
        lane(AutomationTarget::Effect { effect: 0, parameter: index_of(id) as u32 }, points)
    };
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 20 * SECOND,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    let track = Track {
        id: "noise".to_owned(),
        clips: vec![clip],
        effects: vec![effect("effect", kind, &all)],
        automation: lanes.iter().map(lane_of).collect(),
        ..Track::default()
    };
    Session { tracks: vec![track], length_frames: 20 * SECOND, ..Session::default() }
}

/// Returns the peak difference in dBFS between playing after a seek and playing from the start. The
/// compared second begins ten seconds after the seek.
fn difference_db(session: &Session) -> f64 {
    let slots = [Some(noise(20 * SECOND))];
    let output_from = |frame: u64| {
        let mut mixer = Mixer::new(session, Slots { banks: media().slots().banks, audio: &slots }).unwrap();
        mixer.seek(frame);
        mixer.play();
        play(&mut mixer, (SEEK_FRAME + 10 * SECOND - frame) as usize, &[256]);
        play(&mut mixer, SECOND as usize, &[256])
    };
    let (whole_output, after_seek) = (output_from(0), output_from(SEEK_FRAME));
    assert!(peak(&whole_output) > 0.02, "the output is silent: {}", peak(&whole_output));
    let differences: Vec<f32> = whole_output
        .iter()
        .zip(&after_seek)
        .map(|(whole_output, after_seek)| whole_output - after_seek)
        .collect();
    20.0 * libm::log10(f64::from(peak(&differences).max(1e-10)))
}

fn check(label: &str, session: &Session) {
    let difference_db = difference_db(session);
    println!("{label}: a difference of {difference_db:.1} dBFS");
    assert!(difference_db < -60.0, "{label}: a difference of {difference_db} dBFS");
}

#[test]
fn an_automated_pre_delay_is_the_same_after_a_seek() {
    let points = [point(0, 0.0, Curve::Linear), point(20 * SECOND, 200.0, Curve::Linear)];
    for kind in ["convolution", "reverb"] {
        check(kind, &session(kind, &[("mix", 1.0)], &[("pre_delay_ms", &points)]));
    }
}

/// Kind of the effect, id of its LFO rate in hertz, and values that make the LFO audible.
type LfoEffect = (&'static str, &'static str, &'static [(&'static str, f64)]);

const LFO_EFFECTS: [LfoEffect; 6] = [
    ("chorus", "rate_hz", &[]),
    ("flanger", "rate_hz", &[]),
    ("phaser", "rate_hz", &[]),
    ("tremolo", "rate_hz", &[]),
    ("filter", "lfo_rate_hz", &[("lfo_octaves", 2.0)]),
    ("reverb", "modulation_hz", &[("modulation", 1.0)]),
];

#[test]
fn an_lfo_whose_rate_has_steps_has_the_same_phase_after_a_seek() {
    let points = [
        point(0, 0.5, Curve::Step),
        point(SECOND / 2 + 1, 2.0, Curve::Step),
        point(6 * SECOND + 7, 1.0, Curve::Step),
        point(12 * SECOND + 30, 3.0, Curve::Step),
    ];
    for (kind, rate, values) in LFO_EFFECTS {
        check(kind, &session(kind, values, &[(rate, &points)]));
    }
}

#[test]
fn an_lfo_whose_rate_has_many_points_has_the_same_phase_after_a_seek() {
    for (kind, rate, values) in LFO_EFFECTS {
        let kind_table = effect_kind(kind).unwrap();
        let kind_table = kind_table.parameters[kind_table.parameter_index(rate).unwrap()];
        for (interval_frames, curve) in [(6_000, Curve::Step), (960, Curve::Step), (960, Curve::Linear)] {
            // The points have the minimum and the maximum of the range in an irregular order.
            let value = |number: u64| if number * number % 7 < 3 { kind_table.min } else { kind_table.max };
            let points: Vec<AutomationPoint> = (0..20 * SECOND / interval_frames)
                .map(|number| point(number * interval_frames + number * 37 % 900, value(number), curve))
                .collect();
            let label = format!("{kind}, {curve:?} every {interval_frames} frames");
            check(&label, &session(kind, values, &[(rate, &points)]));
        }
    }
}

#[test]
fn a_tremolo_has_the_same_phase_after_a_seek_if_its_rate_and_sync_are_automated() {
    let rate = [point(0, 1.0, Curve::Linear), point(20 * SECOND, 3.0, Curve::Linear)];
    let sync = [
        point(0, 0.0, Curve::Step),
        point(2 * SECOND, 1.0, Curve::Step),
        point(4 * SECOND, 0.0, Curve::Step),
    ];
    check("tremolo", &session("tremolo", &[], &[("rate_hz", &rate), ("sync", &sync)]));
}

#[test]
fn automated_delay_times_crossfade_at_the_same_frames_after_a_seek() {
    let in_milliseconds: &[(&str, f64)] = &[("sync", 0.0)];
    let triangle = |from: f64, to: f64, secs: u64| -> Vec<AutomationPoint> {
        (0..=20 / secs)
            .map(|turn| point(turn * secs * SECOND, if turn % 2 == 0 { from } else { to }, Curve::Linear))
            .collect()
    };
    for (id, from, to, secs) in
        [("time_ms", 300.0, 320.0, 10), ("time_ms", 300.0, 400.0, 5), ("spread_ms", 0.0, 50.0, 10)]
    {
        let points = triangle(from, to, secs);
        check(&format!("{id} from {from} to {to}"), &session("delay", in_milliseconds, &[(id, &points)]));
    }
}

#[test]
fn the_shared_chorus_has_the_same_phase_after_a_seek() {
    const CHORUS_SEND: u8 = 93;
    let mut track = track("strings", &[(10 * SECOND, 19 * SECOND, 60)]);
    track
        .events
        .insert(0, TrackEvent { frame: 0, event: Event::Controller { controller: CHORUS_SEND, value: 127 } });
    check("notes through the shared chorus", &Session { length_frames: 20 * SECOND, ..notes(vec![track]) });
}
