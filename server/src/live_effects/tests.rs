//! Tests of streams without a socket.

use dsp_core::effects::{EffectConfig, MusicalTime, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot, LIVE_BLOCK_FRAMES, effect_seed};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::message::Answer;
use super::stream::{BLOCK_BYTES, Stream};
use crate::fair_bytes::FairBytes;

/// Starts a stream that is the only one.
fn stream() -> Stream {
    Stream::new(&FairBytes::new("tests", 1 << 20), "ada", None)
}

/// Sends a command. Returns the answers as JSON.
fn obey(stream: &mut Stream, command: &Value) -> Vec<Value> {
    let answers = stream.obey(&command.to_string());
    answers.iter().map(|answer| serde_json::to_value(answer).expect("JSON")).collect()
}

/// Sends a command that is refused. Returns the code and the detail of the only answer.
fn refused(stream: &mut Stream, text: &str) -> (&'static str, String) {
    match stream.obey(text).as_slice() {
        [Answer::Error { code, detail }] => (code, detail.clone()),
        answers => panic!("{text}: {answers:?}"),
    }
}

/// Returns the value of a test signal: two tones with pauses.
fn value(frame: usize, channel: usize) -> f32 {
    let phase = frame as f32 * [0.031, 0.047][channel];
    if frame % 9_000 < 6_000 { 0.7 * phase.sin() + 0.2 * (11.0 * phase).sin() } else { 0.0 }
}

/// Processes a binary message. Without plugins, a block waits for nothing. Returns the answers.
fn process_bytes(stream: &mut Stream, bytes: &mut [u8]) -> Result<Vec<Answer>, Answer> {
    let processed = stream.process(bytes).now_or_never().expect("no plugin");
    processed.map(|processed| processed.answers)
}

/// Sends blocks of the test signal. Returns the frames of left and right, and all answers.
fn process(stream: &mut Stream, blocks: std::ops::Range<usize>) -> ([Vec<f32>; 2], Vec<Answer>) {
    let (mut output, mut answers) = ([Vec::new(), Vec::new()], Vec::new());
    for block in blocks {
        let frames = block * LIVE_BLOCK_FRAMES..(block + 1) * LIVE_BLOCK_FRAMES;
        let mut bytes: Vec<u8> =
            frames.flat_map(|frame| [value(frame, 0), value(frame, 1)]).flat_map(f32::to_le_bytes).collect();
        answers.extend(process_bytes(stream, &mut bytes).expect("a block of the right size"));
        for (index, sample) in bytes.as_chunks::<4>().0.iter().enumerate() {
            output[index % 2].push(f32::from_le_bytes(*sample));
        }
    }
    (output, answers)
}

/// Id and kind of an effect, and values of its parameters by their indices.
type Described<'a> = (&'a str, &'a str, &'a [(usize, f64)]);

/// Returns the output of the engine's chain of a track, or of the master for an empty id, for the
/// test signal.
fn expected(track_id: &str, effects: &[Described<'_>], blocks: usize) -> [Vec<f32>; 2] {
    let mut chain = EffectChain::new(48_000);
    for (index, (id, kind, values)) in effects.iter().enumerate() {
        let kind = effect_kind(kind).expect("an effect");
        let config =
            EffectConfig { sample_rate_hz: 48_000, seed: effect_seed(7, track_id, id), impulse: None };
        chain.push(EffectSlot::new(id, kind, &config));
        for (parameter, value) in *values {
            chain.automate(index, *parameter, *value, 0);
        }
    }
    chain.reset(0);
    chain.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
    let mut output = [0, 1].map(|channel| {
        (0..blocks * LIVE_BLOCK_FRAMES).map(|frame| value(frame, channel)).collect::<Vec<_>>()
    });
    let [left, right] = &mut output;
    chain.process(left, right, &[]);
    output
}

#[test]
fn a_stream_equals_the_chain_of_the_engine_to_the_bit() {
    let mut stream = stream();
    let threshold = effect_kind("compressor").expect("an effect").parameter_index("threshold_db");
    let chain = json!({ "cmd": "chain", "sample_rate": 48_000, "seed": 7, "effects": [
        { "id": "eq", "type": "builtin", "name": "equalizer" },
        { "id": "c", "name": "compressor", "params": { "threshold_db": -30 } },
        { "id": "wide", "name": "chorus" },
        { "id": "l", "type": "builtin", "name": "limiter" },
    ] });
    let latency = obey(&mut stream, &chain);
    let limiter = latency[0]["total"].as_u64().expect("a number");
    assert!(limiter > 0);
    assert_eq!(latency, [json!({ "cmd": "latency", "total": limiter, "latencies": [0, 0, 0, limiter] })]);
    let (output, answers) = process(&mut stream, 0..150);
    let effects: [Described<'_>; 4] = [
        ("eq", "equalizer", &[]),
        ("c", "compressor", &[(threshold.expect("a parameter"), -30.0)]),
        ("wide", "chorus", &[]),
        ("l", "limiter", &[]),
    ];
    assert!(output == expected("", &effects, 150) && answers.is_empty());
    assert!(output[0].iter().any(|value| value.abs() > 0.1));
}

#[test]
fn random_numbers_depend_on_the_track() {
    let dithered: [Described<'_>; 1] = [("crush", "bit_crusher", &[(3, 1.0)])];
    assert!(expected("lead", &dithered, 20) != expected("", &dithered, 20));
    for track_id in ["lead", ""] {
        let mut stream = stream();
        let effect = json!({ "id": "crush", "name": "bit_crusher", "params": { "dither": true } });
        obey(&mut stream, &json!({ "cmd": "chain", "seed": 7, "track_id": track_id, "effects": [effect] }));
        assert!(process(&mut stream, 0..20).0 == expected(track_id, &dithered, 20), "track {track_id:?}");
    }
}

#[test]
fn blocks_pass_before_the_first_chain_and_around_a_changed_one() {
    let mut stream = stream();
    let (output, answers) = process(&mut stream, 0..4);
    let input = |frames: std::ops::Range<usize>| frames.map(|frame| value(frame, 0)).collect::<Vec<_>>();
    assert!(output[0] == input(0..1_024) && answers.is_empty());
    let list = json!([{ "name": "limiter", "bypass": true }]);
    let total = obey(&mut stream, &list)[0]["total"].as_u64().expect("a number") as usize;
    let (output, _) = process(&mut stream, 0..8);
    assert!(output[0][total..] == input(0..8 * LIVE_BLOCK_FRAMES - total));
    // The limiter becomes inaudible within a block or two, which the client is told.
    assert_eq!(obey(&mut stream, &json!([])), [json!({ "cmd": "latency", "total": 0, "latencies": [] })]);
    let (output, _) = process(&mut stream, 8..16);
    assert!(output[0][4 * LIVE_BLOCK_FRAMES..] == input(12 * LIVE_BLOCK_FRAMES..16 * LIVE_BLOCK_FRAMES));
    // An effect that is added later counts once its output is audible.
    obey(&mut stream, &json!([{ "name": "utility" }]));
    let added = obey(&mut stream, &json!([{ "name": "utility" }, { "name": "limiter" }]));
    assert_eq!(added, [json!({ "cmd": "latency", "total": 0, "latencies": [0, 0] })]);
    let (_, answers) = process(&mut stream, 16..24);
    assert_eq!(answers, [Answer::Latency { total, latencies: vec![0, total] }]);
}

#[test]
fn parameters_bypass_flush_and_statistics() {
    let mut stream = stream();
    let gain = json!([{ "id": "g", "name": "utility" }]);
    obey(&mut stream, &gain);
    let parameter =
        effect_kind("utility").expect("an effect").parameter_index("gain_db").expect("a parameter");
    assert!(
        obey(&mut stream, &json!({ "cmd": "SET_PARAM", "effect": "g", "param": "gain_db", "value": -6 }))
            .is_empty()
    );
    process(&mut stream, 0..8);
    assert_eq!(obey(&mut stream, &json!({ "cmd": "flush" })), [json!({ "cmd": "flush_done" })]);
    let (output, _) = process(&mut stream, 0..8);
    assert!(output == expected("", &[("g", "utility", &[(parameter, -6.0)])], 8));
    assert!(obey(&mut stream, &json!({ "cmd": "bypass", "effect": "g", "bypass": true })).is_empty());
    process(&mut stream, 0..4);
    let (output, _) = process(&mut stream, 4..8);
    assert!(
        output[1]
            == (4 * LIVE_BLOCK_FRAMES..8 * LIVE_BLOCK_FRAMES)
                .map(|frame| value(frame, 1))
                .collect::<Vec<_>>()
    );
    let report = json!({ "cmd": "REPORT_LATENCY", "client_frames": 900 });
    assert_eq!(obey(&mut stream, &report), [json!({ "cmd": "latency", "total": 0, "latencies": [0] })]);
    let stats = &obey(&mut stream, &json!({ "cmd": "stats" }))[0];
    assert_eq!((&stats["cmd"], &stats["client_frames"]), (&json!("stats"), &json!(900)));
}

#[test]
fn refused_messages_are_answered_in_words_and_change_nothing() {
    let mut stream = stream();
    obey(&mut stream, &json!([{ "id": "g", "name": "utility", "params": { "gain_db": -6 } }]));
    process(&mut stream, 0..1);
    for (text, code, part) in [
        ("{", "invalid_json", "not JSON"),
        ("7", "unknown_command", "the message is a number; expected an object"),
        (r#"{"cmd": "explode"}"#, "unknown_command", "`cmd` is `explode`; expected `chain`"),
        (r#"{"cmd": "chain"}"#, "invalid_command", "missing field `effects`"),
        (r#"{"cmd": "chain", "sample_rate": 1, "effects": []}"#, "invalid_command", "8000 to 192000"),
        (r#"{"cmd": "chain", "bpm": 0, "effects": []}"#, "invalid_command", "1 to 1000"),
        (r#"{"cmd": "SET_PARAM", "effect": "x", "param": "gain_db", "value": 1}"#, "unknown_effect", "`x`"),
        (r#"{"cmd": "SET_PARAM", "effect": "g", "param": "x", "value": 1}"#, "unknown_parameter", "it has "),
        (
            r#"{"cmd": "SET_PARAM", "effect": "g", "param": "gain_db", "value": "loud"}"#,
            "invalid_value",
            "is \"loud\"; expected a number",
        ),
        (r#"{"cmd": "bypass", "effect": 3, "bypass": true}"#, "unknown_effect", "`3`"),
    ] {
        let (refused_code, detail) = refused(&mut stream, text);
        assert!(refused_code == code && detail.contains(part), "{text}: {refused_code}: {detail}");
    }
    let effects = vec![json!({ "name": "utility" }); 65];
    let large = refused(&mut stream, &json!(effects).to_string());
    assert_eq!(large, ("chain_too_large", "the chain has 65 effects; at most 64 are allowed".to_owned()));
    for size in [0, 4, BLOCK_BYTES - 4, BLOCK_BYTES + 4] {
        let Err(Answer::Error { code, detail }) = process_bytes(&mut stream, &mut vec![0; size]) else {
            panic!("{size}")
        };
        assert_eq!(
            (code, detail),
            ("wrong_block_size", format!("the block has {size} bytes; expected 2048"))
        );
    }
    // The chain and its gain are those of before.
    let (output, _) = process(&mut stream, 1..2);
    let ratio = output[0][100] / value(LIVE_BLOCK_FRAMES + 100, 0);
    assert!((ratio - 10_f32.powf(-6.0 / 20.0)).abs() < 1e-3, "{ratio}");
}

#[test]
fn effects_that_cannot_be_used_are_left_out() {
    let mut stream = stream();
    let answers = obey(
        &mut stream,
        &json!([
            { "id": "a", "name": "utility" },
            { "id": "a", "name": "utility" },
            { "id": "b", "name": "gargle" },
            { "id": "c", "type": "vst3", "plugin_id": "x" },
            { "id": "d", "name": "utility", "params": { "volume": 1 } },
            7,
        ]),
    );
    let codes: Vec<_> = answers.iter().map(|answer| answer.get("code").unwrap_or(&answer["cmd"])).collect();
    assert_eq!(
        codes,
        [
            "duplicate_effect",
            "unknown_effect",
            "invalid_effect",
            "unsupported_effect",
            "unknown_parameter",
            "latency"
        ]
    );
    assert_eq!(answers[5]["latencies"], json!([0, 0]));
}

#[test]
fn streams_share_the_memory_of_effects() {
    let memory = FairBytes::new("tests", 1 << 20);
    let [mut first, mut second] = ["ada", "bob"].map(|owner| Stream::new(&memory, owner, None));
    let delay = json!([{ "name": "delay" }]);
    assert_eq!(obey(&mut first, &delay)[0]["cmd"], "latency");
    assert_eq!(obey(&mut second, &delay)[0]["code"], "busy");
    drop(first);
    assert_eq!(obey(&mut second, &delay)[0]["cmd"], "latency");
}

#[test]
fn numbers_that_are_not_finite_become_silence() {
    let mut stream = stream();
    obey(&mut stream, &json!([{ "name": "utility" }]));
    let mut block: Vec<u8> =
        [f32::NAN, f32::INFINITY].repeat(LIVE_BLOCK_FRAMES).into_iter().flat_map(f32::to_le_bytes).collect();
    process_bytes(&mut stream, &mut block).expect("a block");
    assert!(block.as_chunks::<4>().0.iter().all(|sample| f32::from_le_bytes(*sample).is_finite()));
    let (output, _) = process(&mut stream, 0..4);
    assert!(output[0][3 * LIVE_BLOCK_FRAMES] == value(3 * LIVE_BLOCK_FRAMES, 0));
}
