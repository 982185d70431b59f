//! Tests that call sizes, threads, ranges and seeks do not change the output of a session that uses
//! every feature.

use std::sync::{LazyLock, Mutex};

use assert_no_alloc::assert_no_alloc;
use dsp_core::effects::EFFECTS;
use dsp_core::mixer::{EffectOwner, Mixer, Slots, TrackMix};
use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use dsp_core::session::{
    Audio, AudioSlot, AutomationLane, AutomationPoint, AutomationTarget, Clip, Curve, EffectSettings,
    SendSettings, Session, TempoChange, Track,
};
use dsp_core::soundfont::Bank;

use crate::sessions::{peak, session, track};
use crate::small_bank::small_bank;

pub(crate) const SECOND: u64 = 48_000;

/// Returns twelve seconds of quiet noise.
fn noise() -> AudioSlot {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / 8_388_608.0 - 1.0) * 0.05
    };
    let values: Vec<f32> = (0..12 * SECOND).map(|_| next()).collect();
    AudioSlot::Whole(Audio::from_channels(&values, None))
}

/// The bank and the audio that the sessions in these tests use.
pub(crate) struct Media {
    banks: [Option<Bank>; 1],
    pub(crate) audio: [Option<AudioSlot>; 1],
}

impl Media {
    pub(crate) fn slots(&self) -> Slots<'_> {
        Slots { banks: &self.banks, audio: &self.audio }
    }
}

pub(crate) fn media() -> &'static Media {
    static MEDIA: LazyLock<Media> =
        LazyLock::new(|| Media { banks: [Some(small_bank())], audio: [Some(noise())] });
    &MEDIA
}

pub(crate) fn point(frame: u64, value: f64, curve: Curve) -> AutomationPoint {
    AutomationPoint { frame, value, curve }
}

pub(crate) fn lane(target: AutomationTarget, points: &[AutomationPoint]) -> AutomationLane {
    AutomationLane { target, points: points.to_vec() }
}

pub(crate) fn effect(id: &str, kind: &str, values: &[f64]) -> EffectSettings {
    EffectSettings {
        id: id.to_owned(),
        kind: kind.to_owned(),
        values: values.to_vec(),
        bypass: false,
        side_chain: None,
        audio_slot: None,
    }
}

/// Returns one effect of each kind. Those that can have a side-chain have this one.
fn all_effects(side_chain: Option<u32>) -> Vec<EffectSettings> {
    let one = |kind: &&dsp_core::effects::EffectKind| EffectSettings {
        side_chain: side_chain.filter(|_| kind.has_side_chain),
        ..effect(kind.id, kind.id, &[])
    };
    EFFECTS.iter().map(one).collect()
}

/// Returns automation lanes for the first continuous parameter of each effect and for its rates.
/// The values are at the default or slightly above.
fn lanes_for(effects: &[EffectSettings], end: u64) -> Vec<AutomationLane> {
    let lanes_of = |(index, effect): (usize, &EffectSettings)| {
        let kind = dsp_core::effects::effect_kind(&effect.kind).unwrap();
        let is_rate = |number: &usize| kind.parameters[*number].id.ends_with("rate_hz");
        let numbers = || (0..kind.parameters.len()).filter(|number| kind.parameters[*number].is_continuous());
        let first_number = numbers().find(|number| !is_rate(number));
        let lane_of = move |number: usize| {
            let parameter = &kind.parameters[number];
            let between = |fraction: f64| parameter.default + (parameter.max - parameter.default) * fraction;
            let target = AutomationTarget::Effect { effect: index as u32, parameter: number as u32 };
            let points = [
                point(777, between(0.0), Curve::Linear),
                point(end / 2, between(0.05), Curve::Arc(0.4)),
                point(end, between(0.0), Curve::Step),
            ];
            lane(target, &points)
        };
        first_number.into_iter().chain(numbers().filter(is_rate)).map(lane_of)
    };
    effects.iter().enumerate().flat_map(lanes_of).collect()
}

/// Returns a session with notes, clips, all effects, a group, a bus, automation and tempo changes.
pub(crate) fn song(secs: u64) -> Session {
    let end = secs * SECOND;
    let notes: Vec<(u64, u64, u8)> = (0..4 * secs)
        .map(|beat| (beat * SECOND / 4, beat * SECOND / 4 + 9_000, 48 + (beat * 7 % 24) as u8))
        .collect();
    let mut melody = track("melody", &notes);
    melody.output = Some(3);
    melody.sends = vec![
        SendSettings { to: 4, gain: 0.3, pre_fader: false },
        SendSettings { to: 4, gain: 0.1, pre_fader: true },
    ];
    melody.effects = all_effects(None);
    melody.automation = lanes_for(&melody.effects, end);
    melody.automation.push(lane(
        AutomationTarget::Volume,
        &[
            point(0, -20.0, Curve::Linear),
            point(end / 3 + 5, -3.0, Curve::Arc(-0.5)),
            point(end, -12.0, Curve::Linear),
        ],
    ));
    melody.automation.push(lane(
        AutomationTarget::Send(0),
        &[point(1_000, -30.0, Curve::Linear), point(end, -6.0, Curve::Linear)],
    ));
    let mut bass =
        track("bass", &notes.iter().map(|(on, off, key)| (*on, *off, key - 24)).collect::<Vec<_>>());
    bass.effects = all_effects(Some(0));
    bass.output = Some(3);
    let clip = |frame, looped| Clip {
        frame,
        offset_frames: 100,
        length_frames: 3 * SECOND,
        gain: 0.5,
        fade_in_frames: 1_000,
        fade_out_frames: 4_000,
        looped,
        audio_slot: 0,
    };
    let clips = (0..secs / 2).map(|number| clip(number * 2 * SECOND + 333, number % 2 == 1)).collect();
    let voice = Track { id: "voice".to_owned(), clips, pan: -0.3, ..Track::default() };
    let group = Track {
        id: "group".to_owned(),
        effects: all_effects(Some(2)),
        automation: vec![lane(
            AutomationTarget::Pan,
            &[point(0, -0.5, Curve::Linear), point(end, 0.5, Curve::Linear)],
        )],
        ..Track::default()
    };
    let bus = Track { id: "bus".to_owned(), effects: all_effects(None), gain: 0.5, ..Track::default() };
    let mut session = session(vec![melody, bass, voice, group, bus]);
    session.length_frames = end;
    session.master_effects = all_effects(None);
    session.master_automation = vec![lane(
        AutomationTarget::Volume,
        &[point(0, -6.0, Curve::Linear), point(end, 0.0, Curve::Linear)],
    )];
    let tempo = |frame, bpm, beat| TempoChange { frame, bpm, beat };
    session.tempo =
        vec![tempo(0, 120.0, 0.0), tempo(SECOND + 1, 90.0, 2.000_041), tempo(2 * SECOND, 150.0, 3.5)];
    session
}

pub(crate) fn mixer(session: &Session) -> Mixer {
    Mixer::new(session, media().slots()).unwrap()
}

/// Returns the left and then the right output of the next frames. The call sizes repeat
/// `call_frames`.
pub(crate) fn play(mixer: &mut Mixer, frames: usize, call_frames: &[usize]) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    let mut calls = call_frames.iter().cycle();
    let mut start = 0;
    while start < frames {
        let part = start..frames.min(start + calls.next().copied().unwrap_or(1));
        assert_no_alloc(|| mixer.process(&mut left[part.clone()], &mut right[part.clone()]));
        start = part.end;
    }
    left.extend(right);
    left
}

fn render_by(mut render: OfflineRender, threads: &dyn RenderThreads) -> [Vec<f32>; 2] {
    let mut rendered_output = [Vec::new(), Vec::new()];
    while let Some((left, right)) = render.next_block_on(threads) {
        rendered_output[0].extend_from_slice(left);
        rendered_output[1].extend_from_slice(right);
    }
    rendered_output
}

/// Runs jobs on two threads, starting with the last job.
struct TwoThreads;

impl RenderThreads for TwoThreads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        let jobs = Mutex::new(jobs.iter_mut().rev());
        let next = || jobs.lock().unwrap().next();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some(job) = next() {
                        job();
                    }
                });
            }
        });
    }
}

#[test]
fn the_output_does_not_depend_on_call_sizes_or_threads() {
    let song = song(3);
    let new = || OfflineRender::new(&song, media().slots(), TailConfig { max_secs: 0.0 }).unwrap();
    let expected = render_by(new(), &dsp_core::render::SingleThread);
    assert!(peak(&expected[0]) > 0.05, "the output is silent: {}", peak(&expected[0]));
    assert!(render_by(new(), &TwoThreads) == expected, "rendering on two threads differs");
    for calls in [&[1][..], &[128], &[3, 31, 77, 256, 1], &[3], &[77], &[333], &[4_095]] {
        let mut mixer = mixer(&song);
        mixer.play();
        let (lag, frames) = (mixer.latency_frames(), expected[0].len());
        let rendered_output = play(&mut mixer, lag + frames, calls);
        assert!(
            rendered_output[lag..lag + frames] == expected[0][..],
            "calls of {calls:?} differ on the left"
        );
        assert!(
            rendered_output[2 * lag + frames..] == expected[1][..],
            "calls of {calls:?} differ on the right"
        );
    }
}

#[test]
fn a_rendered_range_equals_that_range_of_the_whole_render() {
    let song = song(3);
    let new = OfflineRender::new(&song, media().slots(), TailConfig { max_secs: 0.0 }).unwrap();
    let whole_render = render_by(new, &dsp_core::render::SingleThread);
    for range in [0..1_000, 51_234..100_001, 143_999..144_000, 700..700] {
        let mut part = OfflineRender::of_range(&song, media().slots(), range.clone()).unwrap();
        // `skip_block` skips some blocks of the session, depending on the range; the render skips
        // the others.
        for _ in 0..range.start % 3 {
            part.skip_block(&TwoThreads);
        }
        let rendered_output = render_by(part, &TwoThreads);
        let range = range.start as usize..range.end as usize;
        assert!(
            rendered_output[0] == whole_render[0][range.clone()]
                && rendered_output[1] == whole_render[1][range.clone()],
            "{range:?}"
        );
    }
}

/// Returns the peak difference in dBFS between playing after a seek and playing from the start, ten
/// seconds after the seek.
fn difference_after_seek_db(song: &Session) -> f64 {
    let mut whole_render = mixer(song);
    whole_render.play();
    // Fades and control updates do not usually begin at this frame.
    let seek_frame = 4 * SECOND + 1_001;
    let start = seek_frame as usize + 10 * SECOND as usize;
    let frames = 24_000;
    play(&mut whole_render, start, &[256]);
    let expected = play(&mut whole_render, frames, &[256]);
    assert!(peak(&expected) > 0.02, "silent: {}", peak(&expected));
    let mut seeking = mixer(song);
    seeking.play();
    seeking.seek(seek_frame);
    play(&mut seeking, start - seek_frame as usize, &[256]);
    let rendered_output = play(&mut seeking, frames, &[256]);
    let difference: Vec<f32> = rendered_output
        .iter()
        .zip(&expected)
        .map(|(rendered_output, expected)| rendered_output - expected)
        .collect();
    20.0 * libm::log10(f64::from(peak(&difference).max(1e-10)))
}

#[test]
fn ten_seconds_after_a_seek_the_output_equals_that_of_playing_from_the_start() {
    for kind in EFFECTS {
        let mut song = song(16);
        let only = |effects: &mut Vec<EffectSettings>| effects.retain(|effect| effect.kind == kind.id);
        song.tracks.iter_mut().for_each(|track| only(&mut track.effects));
        only(&mut song.master_effects);
        for track in &mut song.tracks {
            track.automation.retain(|lane| !matches!(lane.target, AutomationTarget::Effect { .. }));
            track.automation.extend(lanes_for(&track.effects, 16 * SECOND));
        }
        let difference_db = difference_after_seek_db(&song);
        println!("{}: a difference of {difference_db:.1} dBFS", kind.id);
        assert!(difference_db < -60.0, "{}: a difference of {difference_db} dBFS", kind.id);
    }
}

#[test]
fn seeking_in_a_used_mixer_equals_seeking_in_a_new_mixer() {
    let song = song(4);
    for frame in [0, 12_345, 2 * SECOND] {
        let mut fresh_mixer = mixer(&song);
        fresh_mixer.seek(frame);
        fresh_mixer.play();
        let mut used_mixer = mixer(&song);
        used_mixer.play();
        play(&mut used_mixer, 30_000, &[256]);
        used_mixer.seek(frame);
        assert!(
            play(&mut used_mixer, 30_000, &[256]) == play(&mut fresh_mixer, 30_000, &[100]),
            "from {frame}"
        );
    }
}

#[test]
fn playing_and_rendering_do_not_allocate() {
    let song = song(3);
    let mut mixer = mixer(&song);
    let (mut left, mut right) = (vec![0.0; 1_024], vec![0.0; 1_024]);
    let mut levels = [0.0; 12];
    assert_no_alloc(|| {
        mixer.play();
        for number in 0..40 {
            mixer.process(&mut left, &mut right);
            let owner = if number % 2 == 0 { EffectOwner::Master } else { EffectOwner::Track(number % 5) };
            mixer.set_effect_parameter(owner, number % 3, number % 4, 0.5);
            mixer.set_effect_bypass(owner, number % 3, number % 5 == 0);
            mixer.set_bypass(owner, number % 7 == 0);
            mixer.set_send_gain(0, number % 3, 0.1);
            let (mute, solo) = (number % 6 == 0, number % 4 == 0);
            mixer.set_track_mix(
                number % 6,
                &TrackMix { gain: 0.5, pan: 0.2, is_muted: mute, is_soloed: solo },
            );
            mixer.set_master_gain(0.9);
            mixer.seek(number as u64 * 3_000);
        }
        mixer.take_peaks(&mut levels);
        mixer.take_rms(&mut levels);
        mixer.take_underruns();
        mixer.stop();
        mixer.process(&mut left, &mut right);
    });
}

#[test]
fn a_stopped_session_follows_its_automation() {
    let mut song = song(2);
    song.tracks[0].automation = vec![lane(
        AutomationTarget::Volume,
        &[
            point(0, -144.0, Curve::Linear),
            point(SECOND, -144.0, Curve::Linear),
            point(SECOND + 1, 0.0, Curve::Step),
        ],
    )];
    song.tracks[0].effects.clear();
    song.tracks[0].sends.clear();
    song.tracks[0].output = None;
    song.master_effects.clear();
    song.master_automation.clear();
    let mut mixer = mixer(&song);
    let mut note_peak = |frame: u64| {
        mixer.seek(frame);
        play(&mut mixer, 4_800, &[128]);
        mixer.play_event(0, dsp_core::session::Event::NoteOn { key: 60, velocity: 100 });
        let rendered_output = peak(&play(&mut mixer, 4_800, &[128]));
        mixer.release_all();
        play(&mut mixer, 48_000, &[128]);
        rendered_output
    };
    assert!(note_peak(500) < 1e-4);
    assert!(note_peak(SECOND + 500) > 0.05);
}
