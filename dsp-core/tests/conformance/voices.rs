//! Tests of the polyphony, the accuracy of the interpolation, and the number of channels.

use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Instrument, Interpolation, Session, Track, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::measure::{assert_near, db, frame, residue_db, rms};
use crate::rig::{Rig, control, level, on, tables};

#[test]
fn the_softest_voice_is_stolen() {
    // With a polyphony of eight, seven loud notes and a soft note sound before another loud note.
    let rig = Rig::level(&[]).with_polyphony(8);
    let mut events: Vec<_> = (0..7).map(|n| (0.0, on(40 + n, 127))).collect();
    events.push((0.0, on(80, 20)));
    events.push((0.2, on(81, 127)));
    let sound = rig.play(&events, 0.5);
    assert_eq!(sound.active_voices, 8);
    let one_note = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.09)];
    assert_near("eight loud notes", sound.left[frame(0.4)] / one_note, 8.0, 1e-3);
}

#[test]
fn notes_in_release_are_stolen_before_notes_whose_keys_are_down() {
    // With a release of eight seconds, the first four notes still sound when the next notes start.
    let rig = Rig::level(&[(crate::generator::RELEASE_VOL_ENV, 3_600)]).with_polyphony(8);
    let mut events: Vec<_> = (0..4).map(|n| (0.0, on(40 + n, 127))).collect();
    events.extend((0..4).map(|n| (0.05, crate::rig::off(40 + n))));
    events.extend((0..8).map(|n| (0.1, on(60 + n, 100))));
    let sound = rig.play(&events, 0.5);
    let one_note = Rig::level(&[]).hold(60, 100, 0.1).left[frame(0.09)];
    assert_near("the eight notes whose keys are down", sound.left[frame(0.4)] / one_note, 8.0, 1e-3);
}

#[test]
fn the_polyphony_is_configurable() {
    for polyphony in [8, 32, 128] {
        let rig = Rig::level(&[]).with_polyphony(polyphony);
        let events: Vec<_> = (0..128).map(|key| (0.0, on(key, 127))).collect();
        let sound = rig.play(&events, 0.3);
        let one_note = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.09)];
        assert_near("voices", sound.left[frame(0.2)] / one_note, f64::from(polyphony.min(128)), 0.01);
    }
}

/// Returns a sine with a period of `period_frames` frames.
fn fine_sine(period_frames: u32) -> Vec<i16> {
    let angle = |n: u32| f64::from(n) * std::f64::consts::TAU / f64::from(period_frames);
    (0..2_000).map(|n| libm::round(30_000.0 * libm::sin(angle(n))) as i16).collect()
}

#[test]
fn each_kind_of_interpolation_has_its_accuracy() {
    // The tone has a period of 20 frames and plays three semitones above the root key.
    let period_frames = 20;
    let angle = std::f64::consts::TAU / f64::from(period_frames);
    let residue = |interpolation: Interpolation| {
        let rig = Rig::of(&tables(&fine_sine(period_frames), &[], &[])).with_interpolation(interpolation);
        residue_db(&rig.hold(63, 127, 0.5).left[frame(0.1)..frame(0.4)], angle * libm::exp2(3.0 / 12.0))
    };
    // At a fraction t between two frames, the error of a straight line is t (1 - t) angle^2 / 2 of
    // the amplitude. The mean of this error changes only the level. Its deviation from the mean is
    // the residue.
    let linear_error_db = db(angle * angle * libm::sqrt(1.0 / 120.0 - 1.0 / 144.0));
    assert_near("linear", residue(Interpolation::Linear), linear_error_db, 0.5);
    let four_point_db = residue(Interpolation::FourPoint);
    assert!(four_point_db < -66.0, "four-point interpolation: a residue of {four_point_db} dB");
    let sinc_db = residue(Interpolation::Sinc);
    assert!(sinc_db < -70.0, "sinc interpolation: a residue of {sinc_db} dB");
}

#[test]
fn linear_and_cubic_interpolation_pass_through_the_frames() {
    let frames = |interpolation: Interpolation| {
        Rig::of(&tables(&fine_sine(37), &[], &[])).with_interpolation(interpolation).hold(60, 127, 0.1).left
    };
    let (linear, four) = (frames(Interpolation::Linear), frames(Interpolation::FourPoint));
    let full_level = linear[100] / f64::from(fine_sine(37)[100]);
    for (n, value) in fine_sine(37).into_iter().enumerate().take(1_800) {
        assert_near(
            &format!("frame {n} with linear interpolation"),
            linear[n] / full_level,
            f64::from(value),
            0.01,
        );
        assert_near(
            &format!("frame {n} with cubic interpolation"),
            four[n] / full_level,
            f64::from(value),
            0.01,
        );
    }
}

#[test]
fn sinc_interpolation_suppresses_aliases_and_keeps_the_level() {
    let level = |interpolation: Interpolation, frames: &[i16], key: u8| {
        let rig = Rig::of(&tables(frames, &[], &[])).with_interpolation(interpolation);
        rms(&rig.hold(key, 127, 0.5).left[frame(0.1)..frame(0.4)])
    };
    // A tone at two fifths of the sample rate, played an octave up, has an alias at a fifth of the
    // rate.
    let angle = |n: u32| f64::from(n) * std::f64::consts::TAU * 2.0 / 5.0;
    let high: Vec<i16> = (0..2_000).map(|n| libm::round(30_000.0 * libm::sin(angle(n))) as i16).collect();
    let recorded_level = level(Interpolation::FourPoint, &high, 60);
    let cubic_alias = db(level(Interpolation::FourPoint, &high, 72) / recorded_level);
    assert!(cubic_alias > -1.0, "four-point interpolation has an alias of only {cubic_alias} dB");
    let alias = db(level(Interpolation::Sinc, &high, 72) / recorded_level);
    assert!(alias < -60.0, "sinc interpolation has an alias of {alias} dB");
    for key in [48, 60, 61, 66, 72, 84] {
        let [sinc, four] =
            [Interpolation::Sinc, Interpolation::FourPoint].map(|kind| level(kind, &fine_sine(100), key));
        assert_near(
            &format!("a tone at a hundredth of the sample rate, key {key}"),
            db(sinc / four),
            0.0,
            0.1,
        );
    }
}

#[test]
fn forty_tracks_sound_together() {
    let bank = Bank::from_vec(tables(&level(), &[], &[]).bytes()).expect("a sound bank");
    let render = |tracks: usize| {
        let track = |number: usize| Track {
            id: number.to_string(),
            gain: 0.01,
            instrument: Some(Instrument { bank_slot: 0, bank: 0, program: 0 }),
            events: [control(91, 0), on(20 + number as u8, 127)]
                .map(|event| TrackEvent { frame: 0, event })
                .to_vec(),
            ..Track::default()
        };
        let session = Session {
            sample_rate_hz: 48_000,
            polyphony: 64,
            length_frames: 24_000,
            tracks: (0..tracks).map(track).collect(),
            ..Session::default()
        };
        let mut render = OfflineRender::new(&session, &[Some(bank.clone())], TailConfig { max_secs: 0.0 })
            .expect("a render");
        let mut left = Vec::new();
        while let Some((block, _)) = render.next_block() {
            left.extend(block.iter().map(|value| f64::from(*value)));
        }
        left[20_000]
    };
    assert_near("40 tracks against one", db(render(40) / render(1)), db(40.0), 0.01);
}
