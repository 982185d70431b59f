//! Tests that audio clips play at their frames, whole or streamed.

use assert_no_alloc::assert_no_alloc;
use dsp_core::mixer::{Mixer, Slots, Underruns, WantedAudio};
use dsp_core::session::{Audio, AudioSlot, Clip, Session, Track};

use crate::full::play;
use crate::sessions::{peak, session};

/// Returns a source with different consecutive values. They are so small that the limiter does not
/// change them.
fn source(frames: usize) -> [Vec<f32>; 2] {
    let values = |sign: f32| (0..frames).map(|frame| sign * (1 + frame % 997) as f32 / 4_096.0).collect();
    [values(1.0), values(-0.5)]
}

fn clip(frame: u64, length_frames: u64) -> Clip {
    Clip {
        frame,
        offset_frames: 0,
        length_frames,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    }
}

fn with_clips(clips: &[Clip]) -> Session {
    session(vec![Track { id: "a".to_owned(), clips: clips.to_vec(), ..Track::default() }])
}

fn whole(frames: usize) -> [Option<AudioSlot>; 1] {
    let [left, right] = source(frames);
    [Some(AudioSlot::Whole(Audio::from_channels(&left, Some(&right))))]
}

/// Plays clips from frame `start` on and compares each frame with `expected`.
fn check(clips: &[Clip], source_frames: usize, start: u64, expected: impl Fn(u64) -> f32) {
    let audio = whole(source_frames);
    let mut mixer = Mixer::new(&with_clips(clips), Slots { banks: &[], audio: &audio }).unwrap();
    mixer.seek(start);
    mixer.play();
    let lag = mixer.latency_frames();
    let frames = 5_000;
    let output = play(&mut mixer, lag + frames, &[100, 256, 7]);
    for frame in 0..frames {
        let (value, expected) = (output[lag + frame], expected(start + frame as u64));
        assert!((value - expected).abs() < 1e-6, "{clips:?}: {value} at {frame}, expected {expected}");
        let right = output[2 * lag + frames + frame];
        assert!((right + 0.5 * expected).abs() < 1e-6, "{clips:?}: {right} on the right at {frame}");
    }
}

/// Returns the left value of the source at a frame.
fn value(frame: u64) -> f32 {
    source(4_000)[0][frame as usize]
}

#[test]
fn a_clip_plays_exactly_at_its_position() {
    let source = source(4_000)[0].clone();
    let at =
        |frame: i64| usize::try_from(frame).ok().and_then(|frame| source.get(frame)).copied().unwrap_or(0.0);
    let inside = |frame: u64, start: u64, end: u64| (start..end).contains(&frame);
    for start in [0, 1_000, 1_777, 3_000] {
        check(&[clip(1_000, 900)], 4_000, start, |frame| {
            if inside(frame, 1_000, 1_900) { at(frame as i64 - 1_000) } else { 0.0 }
        });
        // This clip is longer than the remaining source.
        let late_clip = Clip { offset_frames: 3_500, ..clip(700, 9_000) };
        check(
            &[late_clip],
            4_000,
            start,
            |frame| if frame >= 700 { at(frame as i64 - 700 + 3_500) } else { 0.0 },
        );
        // These two clips overlap.
        check(&[clip(1_500, 2_000), clip(300, 2_000)], 4_000, start, |frame| {
            let late_clip = if inside(frame, 1_500, 3_500) { at(frame as i64 - 1_500) } else { 0.0 };
            late_clip + if inside(frame, 300, 2_300) { at(frame as i64 - 300) } else { 0.0 }
        });
    }
}

#[test]
fn a_looped_clip_restarts_at_its_offset() {
    for loop_frames in [300, 64, 63, 7, 2, 1] {
        let looped_clip = Clip { offset_frames: 4_000 - loop_frames, looped: true, ..clip(200, 2_500) };
        for start in [0, 199, 1_234] {
            check(&[looped_clip], 4_000, start, |frame| match (200..2_700).contains(&frame) {
                true => value(4_000 - loop_frames + (frame - 200) % loop_frames),
                false => 0.0,
            });
        }
    }
}

#[test]
fn fades_are_linear() {
    let fading = Clip { fade_in_frames: 100, fade_out_frames: 400, gain: 0.5, ..clip(0, 1_000) };
    for start in [0, 50, 800] {
        check(&[fading], 4_000, start, |frame| {
            if frame >= 1_000 {
                return 0.0;
            }
            let fade = (frame as f32 / 100.0).min(1.0) * ((1_000 - frame) as f32 / 400.0).min(1.0);
            0.5 * fade * value(frame)
        });
    }
    // If the source ends before the clip, the fade-out ends at the end of the source.
    let short = Clip { offset_frames: 3_900, fade_out_frames: 50, ..clip(0, 1_000) };
    check(&[short], 4_000, 0, |frame| {
        if frame < 100 { value(3_900 + frame) * ((100 - frame) as f32 / 50.0).min(1.0) } else { 0.0 }
    });
}

#[test]
fn stopping_and_editing_a_clip_does_not_click() {
    let values: Vec<f32> = vec![0.5; 48_000];
    let audio = [Some(AudioSlot::Whole(Audio::from_channels(&values, None)))];
    let slots = Slots { banks: &[], audio: &audio };
    for edit in [true, false] {
        let mut mixer = Mixer::new(&with_clips(&[clip(0, 40_000)]), slots).unwrap();
        mixer.play();
        play(&mut mixer, 9_600, &[128]);
        if edit {
            mixer.set_session(&with_clips(&[]), slots).unwrap();
        } else {
            mixer.stop();
        }
        let output = play(&mut mixer, 4_800, &[128]);
        let left = &output[..4_800];
        let largest_step =
            left.windows(2).fold(0.0_f32, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()));
        assert!(largest_step < 0.01, "a step of {largest_step}");
        assert_eq!(peak(&left[2_000..]), 0.0);
    }
}

/// Delivers the wanted audio, at most `max_frames` frames of each request.
fn deliver_wanted(mixer: &mut Mixer, source: &[Vec<f32>; 2], max_frames: usize) {
    let wanted_audio = mixer.wanted_audio().collect();
    deliver(mixer, core::slice::from_ref(source), wanted_audio, max_frames);
}

/// Delivers audio for requests that may be outdated, with one source for each slot.
fn deliver(mixer: &mut Mixer, sources: &[[Vec<f32>; 2]], wanted_audio: Vec<WantedAudio>, max_frames: usize) {
    for request in wanted_audio {
        let start = request.source_frame as usize;
        let block_range = start..start + request.frames.min(max_frames);
        let audio = sources[request.audio_slot as usize].each_ref().map(|side| &side[block_range.clone()]);
        assert_no_alloc(|| mixer.fill_audio(request.audio_slot, request.source_frame, audio));
    }
}

#[test]
fn audio_that_is_streamed_in_time_plays_like_whole_audio() {
    const FRAMES: usize = 120_000;
    let [left, right] = source(FRAMES);
    let clips = [
        clip(1_000, 100_000),
        Clip { offset_frames: 119_000, looped: true, ..clip(50_000, 60_000) },
        Clip { fade_in_frames: 500, ..clip(90_000, 9_000) },
    ];
    let session = with_clips(&clips);
    let audio = whole(FRAMES);
    let mut expected = Mixer::new(&session, Slots { banks: &[], audio: &audio }).unwrap();
    let streamed = [Some(AudioSlot::Streamed { frames: FRAMES as u64 })];
    let mut mixer = Mixer::new(&session, Slots { banks: &[], audio: &streamed }).unwrap();
    let source = [left, right];
    for start in [0, 60_000, 20_000] {
        mixer.seek(start);
        expected.seek(start);
        mixer.play();
        expected.play();
        for _ in 0..16 {
            deliver_wanted(&mut mixer, &source, 16_384);
        }
        for _ in 0..40 {
            deliver_wanted(&mut mixer, &source, 4_096);
            // Setting the same session again discards no audio.
            mixer.set_session(&session, Slots { banks: &[], audio: &streamed }).unwrap();
            let calls = [128, 1_000];
            assert!(play(&mut mixer, 1_500, &calls) == play(&mut expected, 1_500, &calls), "from {start}");
        }
        assert_eq!(mixer.take_underruns(), Underruns::default(), "from {start}");
    }
}

/// Two mixers that play the same session: the first with whole sources, the second with streamed
/// sources.
struct MixerPair {
    sources: Vec<[Vec<f32>; 2]>,
    slots: [Vec<Option<AudioSlot>>; 2],
    mixers: [Mixer; 2],
}

impl MixerPair {
    fn new(sources: Vec<[Vec<f32>; 2]>, clips: &[Clip], start: u64) -> Self {
        let whole_clip =
            |[left, right]: &[Vec<f32>; 2]| AudioSlot::Whole(Audio::from_channels(left, Some(right)));
        let streamed = |[left, _]: &[Vec<f32>; 2]| AudioSlot::Streamed { frames: left.len() as u64 };
        let slots = [
            sources.iter().map(|source| Some(whole_clip(source))).collect(),
            sources.iter().map(|source| Some(streamed(source))).collect(),
        ];
        let mixers = slots.each_ref().map(|audio: &Vec<_>| {
            let mut mixer = Mixer::new(&with_clips(clips), Slots { banks: &[], audio }).unwrap();
            mixer.seek(start);
            mixer.play();
            mixer
        });
        Self { sources, slots, mixers }
    }

    fn edit(&mut self, clips: &[Clip]) {
        for (mixer, audio) in self.mixers.iter_mut().zip(&self.slots) {
            mixer.set_session(&with_clips(clips), Slots { banks: &[], audio }).unwrap();
        }
    }

    fn wanted(&self) -> Vec<WantedAudio> {
        self.mixers[1].wanted_audio().collect()
    }

    fn deliver(&mut self, wanted_audio: Vec<WantedAudio>) {
        deliver(&mut self.mixers[1], &self.sources, wanted_audio, 16_384);
    }

    fn deliver_all(&mut self) {
        while !self.wanted().is_empty() {
            self.deliver(self.wanted());
        }
    }

    /// Checks that both mixers have the same output, and the second no underruns.
    fn check(&mut self, frames: usize, label: &str) {
        let [whole_clip, streamed] = self.mixers.each_mut().map(|mixer| play(mixer, frames, &[128, 1_000]));
        let first_difference =
            whole_clip.iter().zip(&streamed).position(|(whole_clip, streamed)| whole_clip != streamed);
        assert_eq!(first_difference, None, "{label}: the first different frame");
        assert_eq!(self.mixers[1].take_underruns(), Underruns::default(), "{label}");
    }
}

#[test]
fn audio_that_was_requested_before_an_edit_is_not_played_in_another_clip() {
    let sources = || {
        [0.125, 0.25, 0.5]
            .map(|gain| source(200_000).map(|side| side.iter().map(|value| value * gain).collect()))
    };
    let from_slot = |clip, audio_slot| Clip { audio_slot, ..clip };
    let [first_difference, second, third] = [
        from_slot(clip(0, 60_000), 0),
        from_slot(clip(96_000, 90_000), 1),
        from_slot(clip(300_000, 90_000), 2),
    ];
    let original_clip = Clip { offset_frames: 50_000, ..from_slot(clip(70_000, 100_000), 0) };
    let extended_clip =
        Clip { frame: 65_000, offset_frames: 45_000, length_frames: 105_000, ..original_clip };
    let edits: [(&str, &[Clip], &[Clip]); 3] = [
        (
            "a clip is deleted, so the indices of later clips change",
            &[first_difference, second, third],
            &[second, from_slot(clip(97_000, 90_000), 2)],
        ),
        ("the start of a clip is extended", &[original_clip], &[extended_clip]),
        ("a clip plays another source", &[original_clip], &[from_slot(original_clip, 1)]),
    ];
    for (label, clips_before, clips_after) in edits {
        let mut pair = MixerPair::new(sources().to_vec(), clips_before, 80_000);
        let wanted_audio = pair.wanted();
        assert!(!wanted_audio.is_empty(), "{label}: no audio is requested");
        pair.edit(clips_after);
        pair.deliver(wanted_audio);
        pair.deliver_all();
        pair.check(30_000, label);
    }
}

#[test]
fn audio_that_was_requested_before_its_clip_moves_is_played() {
    let mut pair = MixerPair::new(vec![source(200_000)], &[clip(100, 150_000)], 0);
    let wanted_audio = pair.wanted();
    pair.edit(&[clip(40, 90_000), clip(125, 150_000)]);
    pair.deliver(wanted_audio);
    pair.check(16_000, "both clips");
}

#[test]
fn edits_of_a_streamed_clip_leave_no_gap() {
    const START: u64 = 46_080;
    let base = clip(0, 300_000);
    let from = |frame, length_frames| Clip { offset_frames: frame, ..clip(frame, length_frames) };
    let looped_clip = Clip { offset_frames: 100_000, looped: true, ..clip(20_000, 400_000) };
    let short = Clip { offset_frames: 398_500, looped: true, ..clip(30_000, 400_000) };
    let edits: [(&str, Clip, &[Clip]); 19] = [
        ("gain", base, &[Clip { gain: 0.75, ..base }]),
        ("fade-in", base, &[Clip { fade_in_frames: 60_000, ..base }]),
        ("fade-out", base, &[Clip { fade_out_frames: 280_000, ..base }]),
        ("end trimmed", base, &[clip(0, 250_000)]),
        ("end trimmed to shortly after the edit", base, &[clip(0, 50_000)]),
        ("end extended", from(0, 60_000), &[base]),
        ("start trimmed", base, &[from(30_000, 270_000)]),
        ("start trimmed to shortly after the edit", base, &[from(50_000, 250_000)]),
        ("start extended", from(30_000, 270_000), &[base]),
        ("split long after the edit", base, &[clip(0, 200_000), from(200_000, 100_000)]),
        ("split shortly after the edit", base, &[clip(0, 52_000), from(52_000, 248_000)]),
        ("split before the edit", base, &[clip(0, 20_000), from(20_000, 280_000)]),
        ("moved by 25 frames", base, &[clip(25, 300_000)]),
        ("moved by 7,200 frames", base, &[clip(7_200, 300_000)]),
        ("moved back by 7,200 frames", Clip { frame: 7_200, ..base }, &[base]),
        ("duplicated", base, &[base, clip(2_000, 300_000)]),
        ("looped", base, &[Clip { looped: true, ..base }]),
        ("no longer looped", looped_clip, &[Clip { looped: false, gain: 0.5, ..looped_clip }]),
        ("loop moved", short, &[Clip { frame: 29_000, ..short }]),
    ];
    for (label, clips_before, clips_after) in edits {
        for extra_frames in [0, 777] {
            let mut pair = MixerPair::new(vec![source(400_000)], &[clips_before], START - 8 * 1_536);
            pair.deliver_all();
            for _ in 0..8 {
                pair.check(1_536, label);
                pair.deliver_all();
            }
            pair.check(extra_frames + 1, label);
            pair.edit(clips_after);
            pair.check(4_000, label);
            // Another edit follows, and then the first edit again.
            pair.edit(&[clips_before, clip(45_000, 10)]);
            pair.edit(clips_after);
            let mut requested_blocks = Vec::new();
            for _ in 0..60 {
                pair.deliver(requested_blocks);
                requested_blocks = pair.wanted();
                pair.check(1_536, label);
            }
        }
    }
}

#[test]
fn audio_that_a_loop_keeps_is_not_requested_again() {
    let whole_clip = Clip { offset_frames: 2_500, looped: true, ..clip(30_000, 90_000) };
    let mut pair = MixerPair::new(vec![source(4_000)], &[whole_clip], 30_000);
    pair.deliver_all();
    pair.check(5_000, "before the edit");
    pair.edit(&[Clip { frame: 30_400, offset_frames: 2_900, ..whole_clip }]);
    assert_eq!(pair.wanted(), []);
    pair.check(50_000, "the start is trimmed");
}

#[test]
fn a_short_loop_is_requested_once() {
    const FRAMES: usize = 4_000;
    let source = source(FRAMES);
    // These loops are shorter than the time between two requests for wanted audio.
    for loop_frames in [1, 100, 1_400] {
        let offset_frames = FRAMES as u64 - loop_frames;
        let looped_clip = Clip { offset_frames, looped: true, ..clip(100, 90_000) };
        let session = with_clips(&[looped_clip]);
        let audio = whole(FRAMES);
        let mut expected = Mixer::new(&session, Slots { banks: &[], audio: &audio }).unwrap();
        let streamed = [Some(AudioSlot::Streamed { frames: FRAMES as u64 })];
        let mut mixer = Mixer::new(&session, Slots { banks: &[], audio: &streamed }).unwrap();
        // These seeks go forward, back to before the clip, and to audio that later repetitions of
        // the loop have overwritten.
        for start in [0, 50_000, 70, 40_000, 600] {
            for mixer in [&mut mixer, &mut expected] {
                mixer.seek(start);
                mixer.play();
            }
            deliver_wanted(&mut mixer, &source, FRAMES);
            // If playback starts in the middle of the loop, the start of the loop is requested
            // second.
            deliver_wanted(&mut mixer, &source, FRAMES);
            for _ in 0..30 {
                assert_eq!(mixer.wanted_audio().count(), 0, "{loop_frames} frames from {start}");
                let calls = [128, 1_000];
                assert!(
                    play(&mut mixer, 1_536, &calls) == play(&mut expected, 1_536, &calls),
                    "{loop_frames} from {start}"
                );
            }
            assert_eq!(mixer.take_underruns(), Underruns::default(), "{loop_frames} from {start}");
        }
    }
}

#[test]
fn audio_stops_and_resumes_without_clicks_at_an_underrun() {
    const FRAMES: usize = 48_000;
    let source = [vec![0.5; FRAMES], vec![-0.5; FRAMES]];
    let streamed = [Some(AudioSlot::Streamed { frames: FRAMES as u64 })];
    // The clip starts at the first frame of its source, and an underrun begins inside a block.
    let session = with_clips(&[Clip { fade_in_frames: 400, ..clip(130, 48_000) }]);
    for calls in [&[128][..], &[1, 77, 1_000]] {
        let mut mixer = Mixer::new(&session, Slots { banks: &[], audio: &streamed }).unwrap();
        mixer.play();
        let (lag, mut output) = (mixer.latency_frames(), Vec::new());
        let mut part =
            |mixer: &mut Mixer, frames| output.extend_from_slice(&play(mixer, frames, calls)[..frames]);
        deliver_wanted(&mut mixer, &source, 3_001);
        part(&mut mixer, 6_000);
        deliver_wanted(&mut mixer, &source, 4_000);
        part(&mut mixer, 3_000);
        assert_eq!(mixer.take_underruns(), Underruns { events: 1, frames: 6_000 - 3_131 });
        let output = &output[lag..];
        assert_eq!([output[3_000], output[5_900], output[8_900 - lag]], [0.5, 0.0, 0.5], "{calls:?}");
        let largest_step = output.windows(2).fold(0.0_f32, |most, pair| most.max((pair[1] - pair[0]).abs()));
        assert!(largest_step < 0.01, "a step of {largest_step} with {calls:?}");
    }
}

#[test]
fn late_audio_is_replaced_by_silence_and_counted_as_an_underrun() {
    let source = source(90_000);
    let streamed = [Some(AudioSlot::Streamed { frames: 90_000 })];
    let mut mixer =
        Mixer::new(&with_clips(&[clip(100, 90_000)]), Slots { banks: &[], audio: &streamed }).unwrap();
    mixer.play();
    let lag = mixer.latency_frames();
    assert_eq!(peak(&play(&mut mixer, 1_100, &[100])), 0.0);
    assert_eq!(mixer.take_underruns(), Underruns { events: 1, frames: 1_000 });
    // When audio arrives, it fades in at its position.
    deliver_wanted(&mut mixer, &source, 2_000);
    let output = play(&mut mixer, 1_000, &[100]);
    let fade_frames = 17 * 48;
    assert_eq!(output[lag + fade_frames..1_000], source[0][1_000 + fade_frames..2_000 - lag]);
    assert_eq!(mixer.take_underruns(), Underruns::default());
    // Audio that was not requested is ignored.
    mixer.fill_audio(0, 50_000, [&source[0][..10], &source[1][..10]]);
    mixer.fill_audio(0, 0, [&source[0][..10], &source[1][..10]]);
    mixer.fill_audio(7, 2_000, [&source[0][..10], &source[1][..10]]);
    play(&mut mixer, 2_000, &[100]);
    assert_eq!(mixer.take_underruns(), Underruns { events: 1, frames: 1_000 });
}
