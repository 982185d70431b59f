//! Plays events with small generated banks and returns the output of the track.

use assert_no_alloc::assert_no_alloc;
use dsp_core::mixer::TrackPlayer;
use dsp_core::session::{Event, Instrument, Interpolation, Session, Track, TrackEvent, VelocityToCutoff};
use dsp_core::soundfont::Bank;

use crate::generator::{ATTACK_VOL_ENV, SAMPLE_MODES};
use crate::maker::{ModulatorRecord, Tables};

/// Sample rate of the samples and, by default, of the output.
pub(crate) const RATE_HZ: f64 = 48_000.0;

/// Frequency of [`sine`] at its root key 60.
pub(crate) const SINE_HZ: f64 = 480.0;

/// Timecents that mean a time of 0 (section 8.1.2, number 33).
pub(crate) const AT_ONCE: i16 = i16::MIN;

/// Returns a sample whose frames are all at full scale. Its output is the gain of the voice.
pub(crate) fn level() -> Vec<i16> {
    vec![i16::MAX; 2_000]
}

/// Returns a sine with a period of 100 frames.
pub(crate) fn sine() -> Vec<i16> {
    let value = |n: u32| 16_000.0 * libm::sin(f64::from(n) * std::f64::consts::TAU / 100.0);
    (0..2_000).map(|n| libm::round(value(n)) as i16).collect()
}

/// Returns a sample whose frame `n` has the value `n / 2`, so that the output shows which frame
/// plays.
pub(crate) fn ramp() -> Vec<i16> {
    (0..60_000).map(|n| (n / 2) as i16).collect()
}

/// Loop of the samples. It has whole periods of [`sine`].
pub(crate) const LOOP: core::ops::Range<u32> = 100..1_900;

/// Generators of every zone that [`tables`] makes: a looped sample and an attack time of 0.
pub(crate) const STEADY: [(u16, i16); 2] = [(SAMPLE_MODES, 1), (ATTACK_VOL_ENV, AT_ONCE)];

/// Returns [`STEADY`] and then `generators`, which replace those with the same number.
pub(crate) fn steady(generators: &[(u16, i16)]) -> Vec<(u16, i16)> {
    [&STEADY, generators].concat()
}

/// Returns a bank whose preset 0:0 has one zone with [`STEADY`] and these generators and
/// modulators.
pub(crate) fn tables(frames: &[i16], generators: &[(u16, i16)], modulators: &[ModulatorRecord]) -> Tables {
    let mut tables = Tables::new();
    let sample = tables.add_sample(frames, LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(generators), modulators), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables
}

/// A bank, and the session and preset with which it is played.
pub(crate) struct Rig {
    bank: Bank,
    session: Session,
    preset: (u16, u8),
    /// Numbers of frames that successive calls render; the list repeats.
    call_frames: Vec<usize>,
}

/// The four outputs of a track.
pub(crate) struct Sound {
    pub(crate) left: Vec<f64>,
    pub(crate) right: Vec<f64>,
    pub(crate) reverb: Vec<f64>,
    pub(crate) chorus: Vec<f64>,
    /// Number of voices that still sound at the end.
    pub(crate) active_voices: usize,
}

impl Rig {
    pub(crate) fn of(tables: &Tables) -> Self {
        let rig = Self::of_damaged(tables);
        assert_eq!(rig.bank.issues(), []);
        rig
    }

    /// Like [`Self::of`], but the loader may skip parts of the bank.
    pub(crate) fn of_damaged(tables: &Tables) -> Self {
        let bank = Bank::from_vec(tables.bytes()).expect("a bank");
        let presets: Vec<_> =
            tables.presets.iter().map(|preset| (preset.bank, preset.program as u8)).collect();
        bank.prepare(&presets).expect("samples that fit");
        let session = Session {
            sample_rate_hz: RATE_HZ as u32,
            polyphony: 64,
            interpolation: Interpolation::FourPoint,
            ..Session::default()
        };
        Self { bank, session, preset: (0, 0), call_frames: vec![usize::MAX] }
    }

    /// Creates a rig with a bank of [`tables`] that plays [`level`].
    pub(crate) fn level(generators: &[(u16, i16)]) -> Self {
        Self::of(&tables(&level(), generators, &[]))
    }

    /// Creates a rig with a bank of [`tables`] that plays [`sine`].
    pub(crate) fn sine(generators: &[(u16, i16)]) -> Self {
        Self::of(&tables(&sine(), generators, &[]))
    }

    /// Creates a rig with a bank of [`tables`] that plays [`ramp`].
    pub(crate) fn ramp(generators: &[(u16, i16)]) -> Self {
        Self::of(&tables(&ramp(), generators, &[]))
    }

    /// Returns a rig whose bank is reduced to the played preset.
    pub(crate) fn reduced(&self) -> Self {
        let bytes = self.bank.write_reduced(&[self.preset]).expect("a smaller bank");
        let bank = Bank::from_vec(bytes).expect("a bank");
        let Self { session, preset, call_frames, .. } = self;
        Self { bank, session: session.clone(), preset: *preset, call_frames: call_frames.clone() }
    }

    pub(crate) fn with_preset(mut self, bank: u16, program: u8) -> Self {
        self.preset = (bank, program);
        self
    }

    pub(crate) fn with_polyphony(mut self, polyphony: u16) -> Self {
        self.session.polyphony = polyphony;
        self
    }

    pub(crate) fn with_interpolation(mut self, interpolation: Interpolation) -> Self {
        self.session.interpolation = interpolation;
        self
    }

    /// Enables all default modulators of section 8.4, including the one from velocity to cutoff.
    pub(crate) fn following_the_specification(mut self) -> Self {
        self.session.velocity_to_cutoff = VelocityToCutoff::Specification;
        self
    }

    pub(crate) fn with_sample_rate(mut self, sample_rate_hz: u32) -> Self {
        self.session.sample_rate_hz = sample_rate_hz;
        self
    }

    pub(crate) fn with_call_frames(mut self, call_frames: &[usize]) -> Self {
        self.call_frames = call_frames.to_vec();
        self
    }

    /// Plays events, each at a time in seconds, and returns the outputs. Asserts that rendering
    /// does not allocate.
    pub(crate) fn play(&self, events: &[(f64, Event)], secs: f64) -> Sound {
        let rate_hz = f64::from(self.session.sample_rate_hz);
        let frames = |secs: f64| libm::round(secs * rate_hz) as u64;
        let (bank, program) = self.preset;
        let track = Track {
            id: "track".to_owned(),
            instrument: Some(Instrument { bank_slot: 0, bank, program }),
            events: events.iter().map(|&(secs, event)| TrackEvent { frame: frames(secs), event }).collect(),
            ..Track::default()
        };
        let mut player = TrackPlayer::new(&self.session, &track, Some(&self.bank)).expect("a player");
        let mut outputs = [const { Vec::new() }; 4].map(|_: Vec<f32>| vec![0.0_f32; frames(secs) as usize]);
        let (mut start, mut calls) = (0, self.call_frames.iter().cycle());
        assert_no_alloc(|| {
            while start < outputs[0].len() {
                let call_frames = calls.next().copied().unwrap_or(1);
                let part = start..outputs[0].len().min(start.saturating_add(call_frames));
                player.process(outputs.each_mut().map(|output| &mut output[part.clone()]));
                start = part.end;
            }
        });
        let [left, right, reverb, chorus] = outputs.map(|output| output.into_iter().map(f64::from).collect());
        Sound { left, right, reverb, chorus, active_voices: player.active_voice_count() }
    }

    /// Plays a note that is not released.
    pub(crate) fn hold(&self, key: u8, velocity: u8, secs: f64) -> Sound {
        self.play(&[(0.0, on(key, velocity))], secs)
    }
}

pub(crate) fn on(key: u8, velocity: u8) -> Event {
    Event::NoteOn { key, velocity }
}

pub(crate) fn off(key: u8) -> Event {
    Event::NoteOff { key }
}

pub(crate) fn control(controller: u8, value: u8) -> Event {
    Event::Controller { controller, value }
}

pub(crate) fn bend(value: i16) -> Event {
    Event::PitchBend { value }
}
