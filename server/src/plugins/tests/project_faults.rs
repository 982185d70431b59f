//! Tests what plugins of projects get from the song, and what is told if they cannot use it, with the
//! plugins of `tests/plugins`.

use serde_json::{Value, json};

use super::midi_render::note;
use super::project_instruments::{post, project, samples};
use super::vst::PluginService;

/// Ids of the synthesizer and of the meter of `tests/plugins`.
const SYNTH: &str = "11111111111111111111111111111111";
const METER: &str = "61616161616161616161616161616161";

/// Returns a service with both plugins.
async fn service() -> PluginService {
    let service = PluginService::start().await;
    service.install("instrument", "synth.vst3");
    service.install("meter", "meter.vst3");
    service.scan().await;
    service
}

/// Returns a song of four seconds with an instrument and the meter.
fn metered_song() -> Value {
    project(&[json!({
        "id": "bass", "name": "bass", "kind": "instrument",
        "synth_engine": {"type": "vst3", "plugin_id": SYNTH},
        "items": [{"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 7_680,
            "notes": [note(0.0, 7_680.0)]}],
        "effects": [{"id": "meter", "type": "vst3", "plugin_id": METER}],
    })])
}

/// Returns the outcome of a plugin of a song: of an effect, or of the instrument.
async fn outcome(service: &PluginService, song: &Value, effect_id: Option<&str>) -> Value {
    let answer = post(service, "/plugins/sounds", &json!({"project": song}), 200).await;
    let outcomes = answer["sounds"].as_array().expect("a list");
    let found = outcomes.iter().find(|outcome| outcome["effect_id"] == json!(effect_id));
    found.unwrap_or_else(|| panic!("{effect_id:?}: {answer}")).clone()
}

/// Returns the interleaved samples of a sound.
async fn sound(service: &PluginService, outcome: &Value) -> Vec<f32> {
    let id = outcome["sound_id"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    samples(service, &format!("/api/v1/plugins/sounds/{id}").into()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_get_the_bars_of_the_song() {
    let service = service().await;
    let mut song = metered_song();
    song["time_signatures"] = json!([
        {"tick": 0, "numerator": 3, "denominator": 4}, {"tick": 5_760, "numerator": 7, "denominator": 8}
    ]);
    let waltz = outcome(&service, &song, Some("meter")).await;
    let samples = sound(&service, &waltz).await;
    // A quarter note has 24,000 frames.
    let at = |quarters: f64| {
        let index = 2 * (quarters * 24_000.0) as usize;
        [samples[index], samples[index + 1]]
    };
    let waltz_bar = |start| [start, 3.0 + 4.0 / 256.0];
    assert_eq!([at(0.0), at(2.9)], [waltz_bar(0.0); 2]);
    assert_eq!([at(3.1), at(5.99)], [waltz_bar(3.0); 2]);
    assert_eq!([at(6.0), at(7.9)], [[6.0, 7.0 + 8.0 / 256.0]; 2]);

    // The time signature is a part of what determines a sound, up to the end of the sound.
    let instrument = outcome(&service, &song, None).await;
    song["time_signatures"][1]["denominator"] = 4.into();
    for (effect_id, earlier) in [(Some("meter"), &waltz), (None, &instrument)] {
        let other = outcome(&service, &song, effect_id).await;
        assert_ne!(other["sound_id"], earlier["sound_id"], "{effect_id:?}");
    }
    let last = json!({"tick": 96_000_000, "numerator": 5, "denominator": 4});
    let before = outcome(&service, &song, Some("meter")).await;
    song["time_signatures"].as_array_mut().expect("a list").push(last);
    assert_eq!(outcome(&service, &song, Some("meter")).await, before);
}
