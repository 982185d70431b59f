//! Tests of insert effects in sessions that are edited while they play.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots};
use dsp_core::session::{Audio, AudioSlot, AutomationTarget, Clip, Curve, Session, Track};

use crate::full::{effect, lane, media, play, point};
use crate::sessions::{peak, session};

const SECOND: usize = 48_000;

/// Returns a session with a track of noise and these effects: kind, parameter and its value.
fn with_effects(kinds: &[(&str, &str, f64)]) -> Session {
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 10 * SECOND as u64,
        gain: 0.25,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: true,
        audio_slot: 0,
    };
    let effects = kinds.iter().map(|(kind, parameter, value)| {
        let mut values: Vec<f64> =
            effect_kind(kind).unwrap().parameters.iter().map(|parameter| parameter.default).collect();
        values[effect_kind(kind).unwrap().parameter_index(parameter).unwrap()] = *value;
        effect(kind, kind, &values)
    });
    let effects = effects.collect();
    session(vec![Track { id: "a".to_owned(), clips: vec![clip], effects, ..Track::default() }])
}

/// Plays both mixers for six seconds and returns the largest difference in the last second.
fn difference(first: &mut Mixer, second: &mut Mixer) -> f32 {
    let [first, second] = [first, second].map(|mixer| play(mixer, 6 * SECOND, &[128]));
    let last_second = 5 * SECOND..6 * SECOND;
    let differences: Vec<f32> = first[last_second.clone()]
        .iter()
        .zip(&second[last_second])
        .map(|(first, second)| first - second)
        .collect();
    peak(&differences)
}

/// Kinds of effects, and a parameter of each with a value that differs from the default.
const CHANGED: [(&str, &str, f64); 6] = [
    ("equalizer", "bell_2_gain_db", -24.0),
    ("filter", "cutoff_hz", 6_000.0),
    ("bit_crusher", "bits", 3.0),
    ("convolution", "low_cut_hz", 1_000.0),
    ("compressor", "threshold_db", -50.0),
    ("saturator", "drive_db", 30.0),
];

#[test]
fn an_effect_added_while_playing_starts_at_its_values() {
    for changed_effect in CHANGED {
        let (without_effect, with_effect) = (with_effects(&[]), with_effects(&[changed_effect]));
        let [mut late, mut early] =
            [&without_effect, &with_effect].map(|session| Mixer::new(session, media().slots()).unwrap());
        for mixer in [&mut late, &mut early] {
            mixer.play();
            play(mixer, 1_280, &[128]);
        }
        late.set_session(&with_effect, media().slots()).unwrap();
        let difference = difference(&mut late, &mut early);
        assert!(difference < 1e-4, "{changed_effect:?}: a difference of {difference}");
    }
}

#[test]
fn a_step_in_an_automation_lane_has_the_same_effect_as_a_constant_value() {
    for (kind, parameter, value) in CHANGED {
        let mut stepped = with_effects(&[(kind, parameter, value)]);
        let kind_table = effect_kind(kind).unwrap();
        let parameter = kind_table.parameter_index(parameter).unwrap();
        let target = AutomationTarget::Effect { effect: 0, parameter: parameter as u32 };
        let value_before = kind_table.parameters[parameter].default;
        let points = [point(0, value_before, Curve::Step), point(1_003, value, Curve::Step)];
        stepped.tracks[0].automation = vec![lane(target, &points)];
        let [mut before_step, mut after_step] = [0, 2_000].map(|start| {
            let mut mixer = Mixer::new(&stepped, media().slots()).unwrap();
            mixer.seek(start);
            mixer.play();
            mixer
        });
        play(&mut before_step, 2_000, &[128]);
        let difference = difference(&mut before_step, &mut after_step);
        assert!(difference < 1e-4, "{kind}: a difference of {difference}");
    }
}

#[test]
fn an_impulse_response_may_last_up_to_half_a_minute() {
    let mut wet = with_effects(&[("convolution", "response", 0.0)]);
    let convolution = &mut wet.tracks[0].effects[0];
    convolution.values[effect_kind("convolution").unwrap().parameter_index("mix").unwrap()] = 1.0;
    convolution.audio_slot = Some(1);
    let [noise] = &media().audio;
    for (frames, is_used) in [(30 * SECOND, true), (30 * SECOND + 1, false)] {
        let response = AudioSlot::Whole(Audio::from_channels(&vec![0.5; frames], None));
        let audio = [noise.clone(), Some(response)];
        let mut mixer = Mixer::new(&wet, Slots { banks: &[], audio: &audio }).unwrap();
        mixer.play();
        assert_eq!(peak(&play(&mut mixer, 1_000, &[128])) > 0.0, is_used, "{frames} frames");
    }
}

#[test]
fn an_impulse_response_that_arrives_during_playback_fades_in() {
    let mut wet = with_effects(&[("convolution", "response", 0.0)]);
    let convolution = &mut wet.tracks[0].effects[0];
    convolution.values[effect_kind("convolution").unwrap().parameter_index("mix").unwrap()] = 1.0;
    convolution.audio_slot = Some(1);
    let [noise] = &media().audio;
    let decay =
        |frame: u32| (1.0 - frame as f32 / 4_000.0) * libm::sinf((frame * frame % 6_283) as f32 * 1e-3);
    let decay: Vec<f32> = (0..4_000).map(decay).collect();
    let response = AudioSlot::Whole(Audio::from_channels(&decay, None));
    let (value_before, state_after) = ([noise.clone(), None], [noise.clone(), Some(response)]);
    let slots = |audio| Slots { banks: &[], audio };
    let mut late = Mixer::new(&wet, slots(&value_before)).unwrap();
    let mut complete = Mixer::new(&wet, slots(&state_after)).unwrap();
    late.play();
    complete.play();
    assert_eq!(peak(&play(&mut late, 9_000, &[128])), 0.0);
    play(&mut complete, 9_000, &[128]);
    late.set_slots(slots(&state_after)).unwrap();
    let (first, expected) = (play(&mut late, 20_000, &[128]), play(&mut complete, 20_000, &[128]));
    let largest_step = |output: &[f32]| {
        output.windows(2).fold(0.0_f32, |largest, pair| largest.max((pair[1] - pair[0]).abs()))
    };
    assert!(largest_step(&first) <= 1.1 * largest_step(&expected), "the response clicks when it arrives");
    // From here on, both mixers have processed the same input: the response, its pre-delay and its
    // partitions are shorter than 12,000 frames.
    let (first, expected) = (&first[12_000..20_000], &expected[12_000..20_000]);
    assert!(peak(expected) > 0.01, "silent");
    let difference: Vec<f32> = first.iter().zip(expected).map(|(value, expected)| value - expected).collect();
    assert!(peak(&difference) < 1e-6, "a difference of {}", peak(&difference));
}
