//! Tests with the plugins of `tests/plugins` that plugins of projects get the song's time
//! signatures, and that warnings name the values and automation that a plugin cannot use.

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{PATH, note};
use super::project_instruments::{freeze, mix, post, project, samples};
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

/// Returns the outcome of a plugin of a song: of the effect `effect_id`, or of the instrument if it
/// is `None`.
async fn outcome(service: &PluginService, song: &Value, effect_id: Option<&str>) -> Value {
    let answer = post(service, "/plugins/sounds", &json!({"project": song}), 200).await;
    let outcomes = answer["sounds"].as_array().expect("a list");
    let effect_outcome = outcomes.iter().find(|outcome| outcome["effect_id"] == json!(effect_id));
    effect_outcome.unwrap_or_else(|| panic!("{effect_id:?}: {answer}")).clone()
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

    // Time signatures before the end of a sound determine the sound.
    let instrument = outcome(&service, &song, None).await;
    song["time_signatures"][1]["denominator"] = 4.into();
    for (effect_id, earlier_outcome) in [(Some("meter"), &waltz), (None, &instrument)] {
        let other = outcome(&service, &song, effect_id).await;
        assert_ne!(other["sound_id"], earlier_outcome["sound_id"], "{effect_id:?}");
    }
    // Changes after the end of the song, and changes that move no bar, have no effect.
    let outcomes_before =
        [outcome(&service, &song, None).await, outcome(&service, &song, Some("meter")).await];
    song["time_signatures"] = json!([
        {"tick": 0, "numerator": 3, "denominator": 4}, {"tick": 2_880, "numerator": 3, "denominator": 4},
        {"tick": 5_760, "numerator": 7, "denominator": 4}, {"tick": 7_680, "numerator": 5, "denominator": 4}
    ]);
    let outcomes_after =
        [outcome(&service, &song, None).await, outcome(&service, &song, Some("meter")).await];
    assert_eq!(outcomes_after, outcomes_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_and_automation_that_a_plugin_cannot_use_are_ignored_with_a_warning() {
    let service = service().await;
    let plain = outcome(&service, &metered_song(), Some("meter")).await;
    assert_eq!(plain["warnings"], json!([]));
    let plain_samples = sound(&service, &plain).await;

    // The gain of the meter cannot be automated, but it can be set to half of its value.
    let mut song = metered_song();
    song["tracks"][0]["effects"][0]["params"] = json!({"100": 0.25, "7": 0.5, "102": 1});
    let lane = |target: &str| json!({"target": target, "points": [{"tick": 0, "value": 1}]});
    song["tracks"][0]["automation"] = json!([lane("meter/100"), lane("meter/8"), lane("instrument/9")]);
    song["tracks"][0]["synth_engine"]["params"] = json!({"7": 0.5});
    let expected = [
        "The plugin Test Synth has no parameter 7, so the values in the song are ignored",
        "The plugin Test Synth has no parameter 9, so the automation is ignored",
        "The plugin Test Meter has no parameters 102 and 7, so the values in the song are ignored",
        "The plugin Test Meter has no parameter 8, so the automation is ignored",
        "The plugin Test Meter does not allow automation of the parameter 100, so the automation is ignored",
    ];
    let sentences = |texts: &[&str]| json!(texts.iter().map(|text| format!("{text}.")).collect::<Vec<_>>());
    for _ in ["rendered", "stored"] {
        let instrument = outcome(&service, &song, None).await;
        assert_eq!(instrument["warnings"], sentences(&expected[..2]));
        let meter = outcome(&service, &song, Some("meter")).await;
        assert_eq!(meter["warnings"], sentences(&expected[2..]));
        let halved_sound = sound(&service, &meter).await;
        assert!(halved_sound.len() > 4 * 96_000 && halved_sound.len() == plain_samples.len());
        assert!(
            halved_sound.iter().zip(&plain_samples).all(|(halved_sound, plain)| *halved_sound == plain / 2.0)
        );
    }

    // Exports give the same warnings.
    let in_export: Vec<String> = expected.iter().map(|text| format!("{text} (track `bass`).")).collect();
    let request = json!({"project": song, "bit_depth": "float32", "tail_secs": 1});
    let render = post(&service, "/plugins/render", &request, 200).await;
    assert_eq!((&render["warnings"], &render["receipt"]["left_out"]), (&json!(in_export), &json!([])));
    let freeze_result = freeze(&service, &song, "bass").await;
    assert_eq!(freeze_result["warnings"], json!(in_export));

    // A request that names the parameter itself is refused.
    let notes = json!([note(0.0, 480.0)]);
    for extra_params in [json!({"7": 0.5}), json!({"102": 0.5})] {
        let body = json!({"plugin_id": SYNTH, "notes": notes, "params": extra_params});
        let refusal = service.app.local(Method::POST, PATH).json(&body).send().await;
        refusal.problem(422, "bad_plugin_parameter");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_that_are_not_numbers_give_a_warning() {
    let service = PluginService::start().await;
    service.install("vst2_misbehaving_synth", "faults.so");
    let available_sounds = service.get("/available").await.expect(200);
    let instruments = available_sounds["vst_instruments"].as_array().expect("a list");
    let faulty_plugin =
        instruments.iter().find(|plugin| plugin["name"] == "Not a Number").expect("the plugin");
    let mut song = metered_song();
    song["tracks"][0]["effects"] = json!([]);
    song["tracks"][0]["synth_engine"] = json!({"type": "vst2", "plugin_id": faulty_plugin["plugin_id"]});
    let mut sound_ids = Vec::new();
    for _ in ["rendered", "stored"] {
        let outcome = outcome(&service, &song, None).await;
        let warning = outcome["warnings"][0].as_str().unwrap_or_else(|| panic!("{outcome}"));
        assert!(warning.starts_with("The plugin Not a Number made "), "{warning}");
        assert!(warning.ends_with(" samples that are infinite or not a number; they are silent."));
        sound_ids.push(outcome["sound_id"].clone());
    }
    assert_eq!(sound_ids[0], sound_ids[1]);
    let request = json!({"project": song, "bit_depth": "float32", "tail_secs": 1});
    let render = post(&service, "/plugins/render", &request, 200).await;
    let warnings = render["warnings"].as_array().expect("a list");
    let is_told = |text: &Value| text.as_str().is_some_and(|text| text.ends_with("silent (track `bass`)."));
    assert!(warnings.iter().any(is_told), "{warnings:?}");
    assert!(mix(&service, &song).await.0.iter().all(|sample| sample.is_finite()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_during_a_song_names_the_plugin_while_other_requests_are_answered() {
    let service = PluginService::start().await;
    service.install("instrument", "vst3/synth.vst3");
    service.install("vst2_misbehaving", "effects/faults.so");
    service.scan().await;
    let effects = service.get("/effects").await.expect(200);
    let effects = effects["vst_effects"].as_array().expect("a list");
    let faulty_plugin = effects.iter().find(|effect| effect["name"] == "Crashes").expect("the plugin");
    let mut song = metered_song();
    song["tracks"][0]["effects"] =
        json!([{"id": "c", "type": "vst2", "plugin_id": faulty_plugin["plugin_id"]}]);
    let request = json!({"project": song});
    let render = service.app.local(Method::POST, "/api/v1/plugins/render").json(&request).send();
    let mut render = std::pin::pin!(render);
    let mut answered_count = 0;
    let crash_outcome = loop {
        let other = service.app.local(Method::GET, "/api/v1/projects").send();
        tokio::select! {
            crash_outcome = &mut render => break crash_outcome,
            answer = other => drop(answer.expect(200)),
        }
        answered_count += 1;
    };
    let detail = crash_outcome.problem(502, "plugin_crashed");
    let name = format!("Plugin \"Crashes\" ({}): ", faulty_plugin["plugin_id"].as_str().expect("an id"));
    assert!(detail.contains(&name) && detail.contains("SIGSEGV"), "{detail}");
    assert!(answered_count > 0);
    // The page gets the sounds of the other plugins, and the reason why this plugin has no sound.
    let instrument = outcome(&service, &song, None).await;
    let crash_outcome = outcome(&service, &song, Some("c")).await;
    assert_eq!((&instrument["state"], &crash_outcome["state"]), (&json!("ready"), &json!("failed")));
    assert!(
        crash_outcome["reason"].as_str().is_some_and(|reason| reason.contains("SIGSEGV")),
        "{crash_outcome}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn songs_with_plugins_open_and_export_without_a_helper() {
    let service = service().await;
    let song = metered_song();
    let by_helper = mix(&service, &song).await;
    assert_eq!(by_helper.1, json!([]));
    post(&service, "/projects", &song, 201).await;

    let bridge = service.path("no-helper").to_string_lossy().into_owned();
    let without = service.app.start_second_server_with(&[("SF_BRIDGE", &bridge)]).await;
    let stored_project = without.local(Method::GET, "/api/v1/projects/p").send().await.expect(200);
    assert_eq!(stored_project, song);
    let request = json!({"project_id": "p", "bit_depth": "float32", "tail_secs": 1});
    let call =
        |path: &str, body: &Value| without.local(Method::POST, &format!("/api/v1/plugins{path}")).json(body);
    let render = call("/render", &request).send().await.expect(200);
    let left_out = render["receipt"]["left_out"].as_array().expect("a list");
    let pointers: Vec<&Value> = left_out.iter().map(|part| &part["pointer"]).collect();
    assert_eq!(pointers, ["/tracks/0/synth_engine", "/tracks/0/effects/0"]);
    for part in left_out {
        let reason = part["reason"].as_str().expect("a reason");
        assert!(reason.contains("the plugin helper") && reason.contains("(SF_BRIDGE)"), "{reason}");
    }
    let outcomes = call("/sounds", &json!({"project_id": "p"})).send().await.expect(200)["sounds"].clone();
    assert_eq!((&outcomes[0]["state"], &outcomes[1]["state"]), (&json!("missing"), &json!("missing")));
    let notes = json!({"plugin_id": SYNTH, "notes": [note(0.0, 480.0)]});
    let refusal = without.local(Method::POST, PATH).json(&notes).send().await;
    refusal.problem(501, "plugin_host_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_with_invalid_buses_process_or_are_refused() {
    let service = service().await;
    service.install("bus_lies", "lies.vst3");
    service.scan().await;
    let effects = service.get("/effects").await.expect(200);
    let effects = effects["vst_effects"].as_array().expect("a list");
    let song = |name: &str| {
        let effect = effects.iter().find(|effect| effect["name"] == name).expect("the effect");
        let mut song = metered_song();
        song["tracks"][0]["effects"] =
            json!([{"id": "lie", "type": "vst3", "plugin_id": effect["plugin_id"]}]);
        song
    };
    for (name, code, part) in [
        ("Negative Count", "not_an_effect", "has no audio input"),
        ("No Buses", "not_an_effect", "has no audio input"),
        ("Unknown Bus", "not_an_effect", "has no audio input"),
        ("Negative Channels", "not_an_effect", "has no audio input"),
        ("Many Buses", "plugin_refused", "states 1000 buses; the maximum is 64"),
        ("Many Channels", "plugin_refused", "states 1000 input channels; the maximum is 128"),
    ] {
        let request = json!({"project": song(name)});
        let refusal = service.app.local(Method::POST, "/api/v1/plugins/render").json(&request).send().await;
        let detail = refusal.problem(422, code);
        assert!(detail.contains(part), "{name}: {detail}");
        let failed_outcome = outcome(&service, &song(name), Some("lie")).await;
        assert_eq!(failed_outcome["state"], "failed", "{name}");
        assert!(
            failed_outcome["reason"].as_str().is_some_and(|reason| reason.contains(part)),
            "{failed_outcome}"
        );
    }
    let dry = outcome(&service, &metered_song(), None).await;
    let dry = sound(&service, &dry).await;
    for name in ["Other Arrangement", "More Channels"] {
        let lie = outcome(&service, &song(name), Some("lie")).await;
        let processed_sound = sound(&service, &lie).await;
        assert!(processed_sound.len() >= 4 * 96_000, "{name}");
        assert!(
            processed_sound.iter().zip(&dry).all(|(processed_sound, dry)| processed_sound == dry),
            "{name}"
        );
    }
}

/// Tests a step at frame 25,025, which is not a multiple of 64.
#[tokio::test(flavor = "multi_thread")]
async fn steps_are_exact_and_a_song_may_automate_many_parameters_of_a_plugin() {
    let service = service().await;
    let plain = sound(&service, &outcome(&service, &metered_song(), None).await).await;
    let mut song = metered_song();
    let steps = json!([{"tick": 0, "value": 0.5, "curve": "step"}, {"tick": 1_001, "value": 0.25}]);
    let unknown_targets =
        (1_000..1_100).map(|id| json!({"target": format!("instrument/{id}"), "points": steps}));
    let lanes = unknown_targets.chain([json!({"target": "instrument/100", "points": steps})]);
    song["tracks"][0]["automation"] = lanes.collect();
    let automated_sound = outcome(&service, &song, None).await;
    let warning = automated_sound["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("and 90 others, so the automation is ignored"), "{warning}");
    let automated_sound = sound(&service, &automated_sound).await;
    let (outcomes_before, outcomes_after) = automated_sound.split_at(2 * 25_025);
    let (plain_before, plain_after) = plain.split_at(2 * 25_025);
    assert!(outcomes_before == plain_before);
    assert!(
        outcomes_after.iter().zip(plain_after).all(|(outcomes_after, plain)| *outcomes_after == plain / 2.0)
    );
    assert!(outcomes_after[..4].iter().any(|sample| *sample != 0.0), "{:?}", &outcomes_after[..4]);
}
