//! Tests of audio items that continue each other, such as the halves of a split item.

use dsp_core::session::Clip;
use serde_json::json;

use super::*;

/// Tempi in quarter notes a minute: even, odd, slow and fast.
const TEMPI: [f64; 6] = [120.0, 97.3, 140.0, 61.7, 33.333, 287.9];

/// A resolver whose files are all ten minutes long. The fields are the sample rates of the session
/// and of the files, in hertz.
struct Files(u32, u32);

impl MediaResolver for Files {
    fn bank_slot(&mut self, _soundfont_id: Option<&str>) -> Option<u32> {
        None
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let Self(rate_hz, file_rate_hz) = *self;
        let slot = u32::from(server_file_id != "f");
        Some(ResolvedAudio { slot, frames: 600 * u64::from(rate_hz), file_rate_hz })
    }
}

fn item(start_tick: u64, offset_frames: u64, length_frames: u64) -> Value {
    json!({"type": "audio", "id": "i", "start_tick": start_tick, "source": {"server_file_id": "f"},
           "offset_frames": offset_frames, "length_frames": length_frames})
}

/// Compiles items to clips. `rates_hz` are the sample rates of the session and of its files.
fn clips(bpm: f64, rates_hz: (u32, u32), items: &[Value]) -> Vec<Clip> {
    let document = json!({"schema_version": 1, "project_id": "p", "tempo_map": [{"tick": 0, "bpm": bpm}],
                          "tracks": [{"id": "t", "kind": "audio", "items": items}]});
    let project: Project = serde_json::from_value(document).expect("a project");
    let files = &mut Files(rates_hz.0, rates_hz.1);
    compile(&project, rates_hz.0, files).expect("a session").session.tracks.remove(0).clips
}

/// Frames of a file from the start of the song to a tick, calculated as in the web client.
fn file_frame(bpm: f64, file_rate_hz: u32, tick: u64) -> u64 {
    (tick as f64 / 960.0 * 60.0 / bpm * f64::from(file_rate_hz)).round() as u64
}

/// All pairs of a session's and a file's sample rate.
fn rates_hz() -> impl Iterator<Item = (u32, u32)> {
    let files = [44_100, 48_000, 96_000];
    files.into_iter().flat_map(move |rate_hz| files.map(|file_rate_hz| (rate_hz, file_rate_hz)))
}

/// Checks that clips play like the single clip `uncut`: each clip starts where the one before ends,
/// in the session and in the source.
fn assert_play_as(clips: &[Clip], uncut: Clip, label: &str) {
    let mut end = Clip { length_frames: 0, ..uncut };
    for clip in clips {
        let start = (end.frame + end.length_frames, end.offset_frames + end.length_frames);
        assert_eq!((clip.frame, clip.offset_frames), start, "{label}");
        end = *clip;
    }
    assert_eq!(end.frame + end.length_frames, uncut.frame + uncut.length_frames, "{label}");
}

#[test]
fn the_halves_of_a_split_item_play_like_the_whole() {
    for (bpm, rates_hz) in TEMPI.into_iter().flat_map(|bpm| rates_hz().map(move |rates| (bpm, rates))) {
        let frame_at = |tick| file_frame(bpm, rates_hz.1, tick);
        let (start, offset, length) = (317, 1_001, frame_at(2_000));
        let uncut = clips(bpm, rates_hz, &[item(start, offset, length)])[0];
        for tick in start + 1..start + 1_000 {
            let cut = frame_at(tick) - frame_at(start);
            let (first, second) = (item(start, offset, cut), item(tick, offset + cut, length - cut));
            // Items need not be in the order of the song.
            let [second, first] = clips(bpm, rates_hz, &[second, first])[..] else { panic!("two clips") };
            assert_play_as(&[first, second], uncut, &format!("{bpm} bpm, {rates_hz:?} Hz, tick {tick}"));
        }
    }
}

#[test]
fn pieces_play_like_the_whole_after_any_move() {
    for (bpm, rates_hz) in TEMPI.into_iter().flat_map(|bpm| rates_hz().map(move |rates| (bpm, rates))) {
        let frame_at = |tick| file_frame(bpm, rates_hz.1, tick);
        for moved_ticks in 0..100 {
            let cuts = [0, 77, 480, 481, 1_920, 3_333, 9_599, 9_600];
            let pieces: Vec<Value> = cuts
                .windows(2)
                .map(|cut| item(cut[0] + moved_ticks, frame_at(cut[0]), frame_at(cut[1]) - frame_at(cut[0])))
                .collect();
            let uncut = clips(bpm, rates_hz, &[item(moved_ticks, 0, frame_at(9_600))])[0];
            let label = format!("{bpm} bpm, {rates_hz:?} Hz, moved by {moved_ticks} ticks");
            assert_play_as(&clips(bpm, rates_hz, &pieces), uncut, &label);
        }
    }
}

#[test]
fn a_trimmed_item_is_within_half_a_frame_of_its_position() {
    for (bpm, rates_hz) in TEMPI.into_iter().flat_map(|bpm| rates_hz().map(move |rates| (bpm, rates))) {
        let (rate_hz, file_rate_hz) = (f64::from(rates_hz.0), f64::from(rates_hz.1));
        for tick in 0..1_000 {
            let offset = file_frame(bpm, rates_hz.1, tick);
            let clip = clips(bpm, rates_hz, &[item(tick, offset, 1_000)])[0];
            let source_start =
                tick as f64 / 960.0 * 60.0 / bpm * rate_hz - offset as f64 * rate_hz / file_rate_hz;
            let error = clip.frame as f64 - clip.offset_frames as f64 - source_start;
            assert!(error.abs() < 0.501, "{bpm} bpm, {rates_hz:?} Hz, tick {tick}: {error} frames");
        }
    }
}

#[test]
fn items_that_do_not_continue_each_other_are_not_moved() {
    let check = |second: Value| {
        let rates_hz = (48_000, 44_100);
        let pair = clips(120.0, rates_hz, &[item(0, 0, 22_045), second.clone()]);
        assert_eq!(pair[1], clips(120.0, rates_hz, &[second])[0]);
        pair[1]
    };
    let with = |field: &str, value: Value| {
        let mut item = item(960, 22_045, 1_000);
        item[field] = value;
        item
    };
    // The first item ends at frame 23,995, five frames before tick 960.
    assert_eq!(check(item(960, 22_045, 1_000)).frame, 24_000);
    check(item(960, 22_050, 1_000));
    check(with("source", json!({"server_file_id": "another"})));
    check(with("loop", json!(true)));
    let second_clip =
        |offset| clips(120.0, (48_000, 44_100), &[item(0, 0, 22_049), item(960, offset, 1_000)])[1];
    let frames_of = |clip: Clip| (clip.frame, clip.offset_frames);
    assert_eq!(frames_of(second_clip(22_049)), (23_999, 23_999));
    assert_eq!(frames_of(second_clip(22_050)), (23_999, 23_999));
    assert_eq!(frames_of(second_clip(22_051)), (24_000, 24_001));
}
