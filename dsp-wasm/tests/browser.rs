//! Tests the functions that this crate exports to JavaScript, in a real browser.

#![cfg(target_arch = "wasm32")]

#[path = "../../dsp-core/tests/signal/fingerprint.rs"]
mod fingerprint;
#[path = "../../dsp-core/tests/engine/small_bank.rs"]
mod small_bank;

use dsp_core::render::{OfflineRender, TailConfig};
use dsp_wasm::compile::{compile_session, gain_from_db, presets_used};
use dsp_wasm::engine::WasmEngine;
use schemas::Project;
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const PROJECT: &str = r#"{
  "schema_version": 1,
  "project_id": "browser",
  "tempo_map": [{ "tick": 0, "bpm": 120 }, { "tick": 960, "bpm": 97.5 }],
  "tracks": [
    {
      "id": "sine", "kind": "instrument", "volume_db": -4.5, "pan": 0.25,
      "synth_engine": { "type": "soundfont", "soundfont_id": "small", "bank": 0, "program": 0 },
      "items": [
        {
          "type": "midi", "id": "item", "start_tick": 120, "length_ticks": 3840,
          "notes": [
            { "tick": 0, "length_ticks": 700, "pitch": 60, "velocity": 0.8 },
            { "tick": 960, "length_ticks": 960, "pitch": 67, "velocity": 1 }
          ],
          "controls": [{ "tick": 480, "type": "bend", "value": -2000 }]
        }
      ]
    }
  ]
}"#;

fn project() -> Project {
    serde_json::from_str(PROJECT).expect("the project reads")
}

fn to_js(value: &impl serde::Serialize) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).expect("a value for JavaScript")
}

/// Passes a command to the engine as a JavaScript object, as the page does.
fn carry_out(engine: &mut WasmEngine, command: serde_json::Value) {
    assert!(engine.carry_out(to_js(&command)).is_ok(), "{command}");
}

/// Copies the left output buffer after the engine rendered `frames` frames.
fn left_output(engine: &WasmEngine, frames: usize) -> Vec<f32> {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::JsCast::unchecked_into(wasm_bindgen::memory());
    let block = js_sys::Float32Array::new_with_byte_offset_and_length(
        &memory.buffer(),
        engine.output_left() as u32,
        frames as u32,
    );
    block.to_vec()
}

#[wasm_bindgen_test]
fn a_compiled_project_plays_like_an_offline_render() {
    let slots = to_js(&std::collections::HashMap::from([("small", 0)]));
    let compiled =
        compile_session(to_js(&project()), slots, None, 48_000, JsValue::UNDEFINED, JsValue::UNDEFINED)
            .expect("compiles");
    assert_eq!(compiled.track_ids(), ["sine"]);
    assert_eq!(compiled.tick_to_frame(960.0), 24_000.0);
    assert_eq!(compiled.frame_to_tick(24_000.0), 960.0);

    let bytes = small_bank::small_bank_bytes(|_| {});
    let mut engine = WasmEngine::new(48_000).expect("an engine");
    assert!(engine.load_bank(0, bytes).is_ok());
    assert!(engine.set_session(&compiled.bytes()).is_ok());
    carry_out(&mut engine, json!({ "type": "play" }));

    let session = schemas::session::build(&project(), 48_000, |_| Some(0)).expect("a session");
    let mut offline = OfflineRender::new(&session, &[Some(small_bank::small_bank())], TailConfig::default())
        .expect("renders");
    let mut expected = vec![0.0; engine.latency_frames()];
    while let Some((left, _)) = offline.next_block() {
        expected.extend_from_slice(left);
    }
    assert!(expected.iter().any(|value| value.abs() > 0.01), "silent");
    for block in expected[..96_000].chunks_exact(128) {
        engine.process(128);
        assert_eq!(left_output(&engine, 128), block);
    }
}

#[wasm_bindgen_test]
fn invalid_projects_banks_sessions_and_commands_are_refused() {
    assert!(
        compile_session(
            JsValue::from_str("no project"),
            to_js(&()),
            None,
            48_000,
            JsValue::UNDEFINED,
            JsValue::UNDEFINED
        )
        .is_err()
    );
    let mut engine = WasmEngine::new(48_000).expect("an engine");
    assert!(engine.load_bank(0, b"no bank".to_vec()).is_err());
    assert!(engine.load_bank(64, small_bank::small_bank_bytes(|_| {})).is_err());
    assert!(engine.set_session(&[1, 2, 3]).is_err());
    assert!(engine.carry_out(to_js(&json!({ "type": "no command" }))).is_err());
}

#[wasm_bindgen_test]
fn gain_from_db_returns_the_same_bits_as_the_engine() {
    assert_eq!(gain_from_db(0.0), 1.0);
    assert_eq!(gain_from_db(-6.0).to_bits(), dsp_core::gain::from_db(-6.0).to_bits());
}

#[wasm_bindgen_test]
fn a_bank_can_be_sent_in_pieces_and_removed() {
    let bytes = small_bank::small_bank_bytes(|_| {});
    let slots = to_js(&std::collections::HashMap::from([("small", 5)]));
    let compiled =
        compile_session(to_js(&project()), slots, None, 48_000, JsValue::UNDEFINED, JsValue::UNDEFINED)
            .expect("compiles");
    let mut engine = WasmEngine::new(48_000).expect("an engine");
    assert!(engine.set_session(&compiled.bytes()).is_ok());
    assert!(engine.add_to_bank(5, &bytes).is_err(), "not begun");
    assert!(engine.begin_bank(64, 1).is_err());
    assert!(engine.begin_bank(5, bytes.len()).is_ok());
    let (start, remaining) = bytes.split_at(100);
    assert!(engine.add_to_bank(5, start).is_ok());
    assert!(engine.end_bank(5).is_err(), "incomplete");
    assert!(engine.begin_bank(5, bytes.len()).is_ok());
    assert!(engine.add_to_bank(5, start).is_ok());
    assert!(engine.add_to_bank(5, remaining).is_ok());
    assert!(engine.end_bank(5).is_ok());
    let loudest = |engine: &mut WasmEngine| {
        carry_out(engine, json!({ "type": "noteOn", "trackId": "sine", "key": 60, "velocity": 127 }));
        (0..100).fold(0.0_f32, |loudest, _| {
            engine.process(256);
            left_output(engine, 256).iter().fold(loudest, |loudest, value| loudest.max(value.abs()))
        })
    };
    assert!(loudest(&mut engine) > 0.01);
    carry_out(&mut engine, json!({ "type": "dropBank", "slot": 5 }));
    // Removing a bank from an empty slot is not an error.
    carry_out(&mut engine, json!({ "type": "dropBank", "slot": 60 }));
    // Renders until the reverb has decayed.
    (0..4_000).for_each(|_| engine.process(256));
    assert!(loudest(&mut engine) < 1e-6);

    assert!(engine.begin_bank(5, 10).is_ok());
    assert!(engine.add_to_bank(5, &[0; 11]).is_err(), "larger than announced");
    assert!(engine.end_bank(5).is_err());
}

#[wasm_bindgen_test]
fn presets_are_listed_for_each_track() {
    let mut project = project();
    assert_eq!(presets_used(to_js(&project)).expect("a list"), ["0:0"]);
    project.tracks[0].synth_engine = None;
    assert_eq!(presets_used(to_js(&project)).expect("a list"), [""]);
    assert!(presets_used(JsValue::from_str("no project")).is_err());
}

#[wasm_bindgen_test]
fn resampling_dither_and_meters_match_the_service_bit_for_bit() {
    assert_eq!(fingerprint::computed(), fingerprint::EXPECTED);
}
