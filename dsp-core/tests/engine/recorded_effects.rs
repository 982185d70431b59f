//! Tests that the recorded output of an effect replaces the effect, and that the engine renders the
//! input that such an effect has.

use dsp_core::effects::{EffectConfig, RECORDED_OUTPUT, effect_kind};
use dsp_core::mixer::{EffectChain, EffectOwner, EffectSlot, Mixer, Slots, Underruns};
use dsp_core::render::{EffectInput, OfflineRender, TailConfig, session_before_effect, tracks_in_solo};
use dsp_core::session::{
    Audio, AudioSlot, AutomationTarget, Clip, Curve, EffectSettings, SendSettings, Session, Track,
};

use crate::full::{effect, lane, media, play, point};
use crate::sessions::{peak, session, track};

/// Gain of the effect that is recorded. A multiplication by it is exact.
const GAIN: f32 = 0.25;

const TAIL: TailConfig = TailConfig { max_secs: 2.0 };

fn recorded(id: &str, audio_slot: Option<u32>) -> EffectSettings {
    EffectSettings { audio_slot, ..effect(id, RECORDED_OUTPUT.id, &[]) }
}

fn clip_track(id: &str, frame: u64) -> Track {
    let clip = Clip {
        frame,
        offset_frames: 0,
        length_frames: 40_000,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: id.to_owned(), clips: vec![clip], ..Track::default() }
}

/// Returns a session with a recorded effect in a track, in the group that the track feeds and in
/// the master. Limiters before the effects have a latency. The values of `audio_slots` are those of
/// the track, the group and the master.
fn song(audio_slots: [Option<u32>; 3]) -> Session {
    let [of_track, of_group, of_master] = audio_slots;
    let limiter = |id: &str| effect(id, "limiter", &[]);
    let lead = Track {
        effects: vec![limiter("l"), recorded("r", of_track), effect("d", "delay", &[])],
        output: Some(2),
        automation: vec![
            lane(
                AutomationTarget::Volume,
                &[point(0, -6.0, Curve::Linear), point(48_000, 0.0, Curve::Linear)],
            ),
            lane(
                AutomationTarget::Effect { effect: 2, parameter: 0 },
                &[point(0, 0.1, Curve::Linear), point(48_000, 0.2, Curve::Linear)],
            ),
        ],
        ..track("lead", &[(0, 20_000, 60), (24_000, 60_000, 67)])
    };
    let apart = Track { pan: 0.5, ..clip_track("apart", 3_000) };
    let group = Track {
        id: "group".to_owned(),
        effects: vec![recorded("r", of_group), limiter("l")],
        sends: vec![SendSettings { to: 3, gain: 0.5, pre_fader: false }],
        ..Track::default()
    };
    let bus = Track { id: "bus".to_owned(), effects: vec![effect("rv", "reverb", &[])], ..Track::default() };
    let mut song = session(vec![lead, apart, group, bus]);
    song.master_effects = vec![limiter("l"), recorded("r", of_master)];
    song.master_gain = 0.5;
    song.length_frames = 96_000;
    song
}

/// The recorded effects of [`song`] in the order of the signal: owner and index of the effect.
const EFFECTS: [(EffectOwner, usize); 3] =
    [(EffectOwner::Track(0), 1), (EffectOwner::Track(2), 0), (EffectOwner::Master, 1)];

fn input(song: &Session, audio: &[Option<AudioSlot>], index: usize) -> [Vec<f32>; 2] {
    let (owner, effect) = EFFECTS[index];
    let slots = Slots { audio, ..media().slots() };
    let mut render = EffectInput::new(song, slots, owner, effect, TAIL).expect("a session");
    let mut input = [Vec::new(), Vec::new()];
    let mut sizes = [256, 100, 7].into_iter().cycle();
    while let Some(block) = render.next_block(sizes.next().expect("a size")) {
        input.iter_mut().zip(block.input).for_each(|(side, values)| side.extend_from_slice(values));
    }
    input
}

fn rendered(song: &Session, audio: &[Option<AudioSlot>]) -> Vec<f32> {
    let slots = Slots { audio, ..media().slots() };
    let mut render = OfflineRender::new(song, slots, TAIL).expect("a session");
    let mut output = Vec::new();
    while let Some((left, right)) = render.next_block() {
        output.extend(left.iter().zip(right).flat_map(|(left, right)| [*left, *right]));
    }
    output
}

/// Returns the session with the recordings of its effects, which multiply by [`GAIN`].
fn recorded_song() -> (Session, Vec<Option<AudioSlot>>) {
    let mut audio = media().audio.to_vec();
    let mut audio_slots = [None; 3];
    for index in 0..EFFECTS.len() {
        let input = input(&song(audio_slots), &audio, index);
        assert!(peak(&input[0]) > 0.0 && peak(&input[1]) > 0.0, "effect {index}");
        let [left, right] = input.map(|side| side.iter().map(|value| value * GAIN).collect::<Vec<_>>());
        audio_slots[index] = Some(audio.len() as u32);
        audio.push(Some(AudioSlot::Whole(Audio::from_channels(&left, Some(&right)))));
    }
    (song(audio_slots), audio)
}

#[test]
fn recordings_of_a_gain_sound_like_the_gain_in_the_engine() {
    let (recorded, audio) = recorded_song();
    let mut with_gains = recorded.clone();
    let gain_db = dsp_core::gain::to_db(f64::from(GAIN));
    for (owner, index) in EFFECTS {
        let effects = match owner {
            EffectOwner::Track(track) => &mut with_gains.tracks[track].effects,
            EffectOwner::Master => &mut with_gains.master_effects,
        };
        effects[index] = effect("r", "utility", &[gain_db]);
    }
    let (expected, output) = (rendered(&with_gains, &audio), rendered(&recorded, &audio));
    assert!(peak(&output) > 0.001);
    for (frame, (expected, value)) in expected.iter().zip(&output).enumerate() {
        assert!((expected - value).abs() < 1e-6, "{value} instead of {expected} at sample {frame}");
    }
    // The remaining frames of the longer render are below the limit.
    let common = expected.len().min(output.len());
    assert!(peak(&expected[common..]) < 2e-4 && peak(&output[common..]) < 2e-4);
}

#[test]
fn without_a_recording_and_while_stopped_the_input_passes() {
    let audio = media().audio.to_vec();
    let without = song([None; 3]);
    let mut dry = without.clone();
    for effects in dry.tracks.iter_mut().map(|track| &mut track.effects).chain([&mut dry.master_effects]) {
        effects.retain(|effect| effect.kind != RECORDED_OUTPUT.id);
    }
    for lane in &mut dry.tracks[0].automation {
        if let AutomationTarget::Effect { effect, .. } = &mut lane.target {
            *effect = 1;
        }
    }
    assert!(rendered(&without, &audio) == rendered(&dry, &audio));
    // A key that is played while the session is stopped passes the effect.
    let (recorded, audio) = recorded_song();
    let slots = Slots { audio: &audio, ..media().slots() };
    let mut mixer = Mixer::new(&recorded, slots).expect("a session");
    mixer.play_event(0, dsp_core::session::Event::NoteOn { key: 72, velocity: 100 });
    assert!(peak(&play(&mut mixer, 9_600, &[128])) > 0.001);
}

#[test]
fn streamed_recordings_play_like_whole_ones_from_anywhere() {
    let (recorded, audio) = recorded_song();
    let streamed_audio: Vec<_> = audio
        .iter()
        .map(|slot| slot.as_ref().map(|slot| AudioSlot::Streamed { frames: slot.frames() }))
        .collect();
    let mut slots = audio.clone();
    slots[1..].clone_from_slice(&streamed_audio[1..]);
    let mut whole_mixer =
        Mixer::new(&recorded, Slots { audio: &audio, ..media().slots() }).expect("a session");
    let mut stream = Mixer::new(&recorded, Slots { audio: &slots, ..media().slots() }).expect("a session");
    let sources: Vec<[Vec<f32>; 2]> = (0..EFFECTS.len())
        .map(|index| {
            let audio_slots = [Some(1), Some(2), Some(3)];
            let mut known_peaks = [None; 3];
            known_peaks[..index].copy_from_slice(&audio_slots[..index]);
            input(&song(known_peaks), &audio, index)
                .map(|side| side.iter().map(|value| value * GAIN).collect())
        })
        .collect();
    for start in [0, 30_000, 12_345] {
        for mixer in [&mut whole_mixer, &mut stream] {
            mixer.seek(start);
            mixer.play();
        }
        for _ in 0..60 {
            loop {
                let wanted_block = stream.wanted_audio().next();
                let Some(wanted_block) = wanted_block else { break };
                let first_frame = wanted_block.source_frame as usize;
                let source = &sources[wanted_block.audio_slot as usize - 1];
                let part = source
                    .each_ref()
                    .map(|side| &side[first_frame..side.len().min(first_frame + wanted_block.frames)]);
                stream.fill_audio(wanted_block.audio_slot, wanted_block.source_frame, part);
            }
            let [whole_mixer, stream] =
                [&mut whole_mixer, &mut stream].map(|mixer| play(mixer, 1_000, &[128, 1_000]));
            assert!(whole_mixer == stream, "from {start}");
        }
        assert_eq!(stream.take_underruns(), Underruns::default());
    }
}

#[test]
fn a_recording_that_arrives_during_playback_does_not_click() {
    let (recorded, audio) = recorded_song();
    let slots = Slots { audio: &audio, ..media().slots() };
    let mut without = recorded.clone();
    without.tracks[0].effects[1].audio_slot = None;
    let (mut late, mut early) =
        (Mixer::new(&without, slots).expect("a session"), Mixer::new(&recorded, slots).expect("a session"));
    for mixer in [&mut late, &mut early] {
        mixer.play();
        play(mixer, 9_000, &[128]);
    }
    late.set_session(&recorded, slots).expect("a session");
    let output = play(&mut late, 9_600, &[128]);
    let largest_step = |values: &[f32]| {
        values.windows(2).fold(0.0_f32, |largest, pair| largest.max((pair[1] - pair[0]).abs()))
    };
    let expected = play(&mut early, 9_600, &[128]);
    assert!(largest_step(&output[..9_600]) < 2.0 * largest_step(&expected[..9_600]) + 0.005);
    let (output, expected) = (play(&mut late, 4_800, &[128]), play(&mut early, 4_800, &[128]));
    let difference = output.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(difference < 1e-3, "a difference of {difference} after a fifth of a second");
}

#[test]
fn the_input_depends_only_on_what_precedes_the_effect() {
    let song = song([None; 3]);
    let peak_before = |song: &Session, index: usize| {
        let (owner, effect) = EFFECTS[index];
        session_before_effect(song, owner, effect)
    };
    let mut edited_song = song.clone();
    edited_song.tracks[1].gain = 0.1;
    edited_song.tracks[0].effects[2].values = vec![0.3];
    edited_song.tracks[2].mute = true;
    edited_song.master_gain = 0.9;
    edited_song.reverb.level = 0.1;
    edited_song.tracks.insert(0, clip_track("new", 0));
    for track in &mut edited_song.tracks {
        track.output = track.output.map(|output| output + 1);
        track.sends.iter_mut().for_each(|send| send.to += 1);
    }
    let (owner, effect) = (EffectOwner::Track(1), 1);
    assert_eq!(session_before_effect(&edited_song, owner, effect), peak_before(&song, 0));
    assert_eq!(peak_before(&song, 0).session.tracks.len(), 1);
    let of_group = peak_before(&song, 1).session;
    assert_eq!(of_group.tracks.iter().map(|track| &*track.id).collect::<Vec<_>>(), ["lead", "group"]);
    assert_eq!(of_group.tracks[0].output, Some(1));
    assert_eq!(peak_before(&song, 2).session.tracks, song.tracks);
}

#[test]
fn solo_and_mute_change_the_input_only_where_they_close_a_route() {
    let song = song([None; 3]);
    let (owner, effect) = EFFECTS[1];
    let input_peak = |song: &Session| {
        let input = input(song, &media().audio, 1);
        input.iter().map(|side| peak(side)).fold(0.0, f32::max)
    };
    let peak_before = |track: usize, change: fn(&mut Track)| {
        let mut changed_song = song.clone();
        change(&mut changed_song.tracks[track]);
        (session_before_effect(&changed_song, owner, effect), input_peak(&changed_song))
    };
    let unchanged_values = (session_before_effect(&song, owner, effect), input_peak(&song));
    assert!(unchanged_values.1 > 0.001);
    // The track that feeds the group, the group itself, and the bus that the group feeds.
    for track in [0, 2, 3] {
        assert_eq!(peak_before(track, |track| track.solo = true), unchanged_values, "solo of track {track}");
    }
    for track in [1, 2, 3] {
        assert_eq!(peak_before(track, |track| track.mute = true), unchanged_values, "mute of track {track}");
    }
    for (peak_before, peak) in
        [peak_before(1, |track| track.solo = true), peak_before(0, |track| track.mute = true)]
    {
        assert_eq!((peak_before.session.tracks.len(), peak), (1, 0.0));
    }
    // The mixer applies the same rule: it lets the feeding track through for the first solos only.
    for (track, is_open) in [(0, true), (2, true), (3, true), (1, false)] {
        let mut soloed = song.clone();
        soloed.tracks[track].solo = true;
        let mixer = Mixer::new(&soloed, media().slots()).expect("a session");
        assert_eq!(mixer.lets_through(0), is_open, "solo of track {track}");
    }
}

/// Returns a session in which a recorded effect follows a compressor in the track `lead` and in the
/// master. The group `source` feeds their side-chains. It is muted, and `source_limiters` and
/// `lead_limiters` have a latency.
fn song_with_side_chains(lead_limiters: usize, source_limiters: usize) -> Session {
    let limiters = |count: usize| (0..count).map(|index| effect(&format!("l{index}"), "limiter", &[]));
    let with_side_chain = |settings: EffectSettings| EffectSettings { side_chain: Some(2), ..settings };
    let compressed_song =
        || [with_side_chain(effect("c", "compressor", &[-50.0])), with_side_chain(recorded("r", None))];
    let lead = Track {
        effects: limiters(lead_limiters).chain(compressed_song()).collect(),
        ..track("lead", &[(0, 90_000, 60)])
    };
    let drum = Track { output: Some(2), ..clip_track("drum", 24_000) };
    let source = Track {
        id: "source".to_owned(),
        effects: limiters(source_limiters).collect(),
        mute: true,
        ..Track::default()
    };
    let apart = clip_track("apart", 0);
    let mut song = session(vec![lead, drum, source, apart]);
    song.master_effects = compressed_song().into();
    song.length_frames = 96_000;
    song
}

/// Renders the inputs of an effect. Returns left and right of the input and of the side-chain.
fn inputs(song: &Session, owner: EffectOwner, effect: usize) -> ([Vec<f32>; 2], [Vec<f32>; 2]) {
    let mut render = EffectInput::new(song, media().slots(), owner, effect, TAIL).expect("a session");
    let (mut input, mut side_chain) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut sizes = [512, 100, 7].into_iter().cycle();
    while let Some(block) = render.next_block(sizes.next().expect("a size")) {
        let sides = input.iter_mut().chain(&mut side_chain);
        let values = block.input.into_iter().chain(block.side_chain.into_iter().flatten());
        sides.zip(values).for_each(|(side, values)| side.extend_from_slice(values));
    }
    (input, side_chain)
}

#[test]
fn the_side_chain_of_an_input_is_that_of_the_effects_of_the_engine() {
    for (lead_limiters, source_limiters) in [(0, 0), (2, 0), (0, 2), (1, 3)] {
        let song = song_with_side_chains(lead_limiters, source_limiters);
        for (owner, compressor) in [(EffectOwner::Track(0), lead_limiters), (EffectOwner::Master, 0)] {
            let label = format!(
                "{owner:?} after {lead_limiters} limiters, and {source_limiters} limiters in the side-chain source"
            );
            let (input, side_chain) = inputs(&song, owner, compressor);
            assert!(peak(&side_chain[0]) > 0.001 && side_chain[0].len() == input[0].len(), "{label}");
            assert!(peak(&side_chain[0][..24_000]) < 1e-4, "{label}");
            // The input of the recorded effect is the output of the compressor in the mix.
            let (expected, same_side_chain) = inputs(&song, owner, compressor + 1);
            let [mut left, mut right] = input.clone();
            let kind = effect_kind("compressor").expect("a kind");
            let config = EffectConfig { sample_rate_hz: 48_000, seed: 0, impulse: None };
            let mut slot = EffectSlot::new("c", kind, &config);
            slot.set_parameter(0, -50.0, 0);
            let mut chain = EffectChain::new(48_000);
            chain.push(slot);
            chain.reset(0);
            assert_eq!(chain.latency_frames(), 0);
            let sides = side_chain.each_ref().map(|side| &side[..]);
            chain.process(&mut left, &mut right, &[Some(sides)]);
            let frames = left.len().min(expected[0].len());
            assert!(frames >= 96_000 && peak(&input[0]) > 0.001, "{label}");
            let difference = |a: &[f32], b: &[f32]| {
                a.iter().zip(b).fold(0.0_f32, |largest, (a, b)| largest.max((a - b).abs()))
            };
            assert!(difference(&left, &input[0]) > 0.001, "{label}: the compressor acts");
            let residual = difference(&left, &expected[0]).max(difference(&right, &expected[1]));
            assert!(residual < 1e-6, "{label}: {residual}");
            assert!(same_side_chain[0][..96_000] == side_chain[0][..96_000], "{label}");
        }
    }
}

#[test]
fn the_part_before_an_effect_has_what_feeds_its_side_chain() {
    let owner = EffectOwner::Track(0);
    let song = song_with_side_chains(1, 1);
    let peak_before = |song: &Session| session_before_effect(song, owner, 2);
    let ids = |song: &Session| {
        peak_before(song).session.tracks.iter().map(|track| track.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(&song), peak_before(&song).side_chain),
        (["lead", "drum", "source"].map(String::from).into(), Some(2))
    );
    // The side-chain reads its signal before the fader of the track that feeds it.
    let mut edited_song = song.clone();
    edited_song.tracks[2].gain = 0.1;
    edited_song.tracks[2].pan = 0.5;
    edited_song.tracks[2].mute = false;
    edited_song.tracks[2].automation = vec![lane(AutomationTarget::Volume, &[point(0, -6.0, Curve::Linear)])];
    edited_song.tracks[3].gain = 0.1;
    assert_eq!(peak_before(&edited_song), peak_before(&song));
    edited_song.tracks[1].gain = 0.1;
    assert_ne!(peak_before(&edited_song), peak_before(&song));
    // A recording does not change with the side-chain of its effect.
    let mut without = song;
    without.tracks[0].effects.remove(1);
    without.tracks[0].effects[1].audio_slot = Some(0);
    without.tracks[0].effects.push(recorded("later", None));
    assert_eq!((ids(&without), peak_before(&without).side_chain), (vec!["lead".to_owned()], None));
    let mut render = EffectInput::new(&without, media().slots(), owner, 2, TAIL).expect("a session");
    assert!(
        !render.has_side_chain() && render.next_block(10).is_some_and(|block| block.side_chain.is_none())
    );
}

#[test]
fn solo_keeps_what_feeds_the_side_chains_of_audible_tracks() {
    let song = song_with_side_chains(0, 0);
    let soloed = |song: &Session, track: usize| {
        let mut song = song.clone();
        song.tracks[track].solo = true;
        song
    };
    let peak_before = |song: &Session| session_before_effect(song, EffectOwner::Track(0), 1);
    assert_eq!(peak_before(&soloed(&song, 0)), peak_before(&song));
    // The mixer applies the same rule: the drum feeds the side-chains of the soloed track and of
    // the master.
    let lets_drum_through = |song: &Session, track: usize| {
        Mixer::new(&soloed(song, track), media().slots()).expect("a session").lets_through(1)
    };
    assert!(lets_drum_through(&song, 0) && lets_drum_through(&song, 3));
    let mut without_master = song;
    without_master.master_effects.clear();
    assert!(lets_drum_through(&without_master, 0) && !lets_drum_through(&without_master, 3));
    assert_eq!(tracks_in_solo(&soloed(&without_master, 0)), [true, true, true, false]);
    assert_eq!(tracks_in_solo(&soloed(&without_master, 3)), [false, false, false, true]);
    assert_eq!(tracks_in_solo(&without_master), [true; 4]);
}
