use axum::http::Method;
use dsp_core::effects::EFFECTS;
use serde_json::{Value, json};

use crate::test_studio::Studio;

async fn effects(studio: &Studio) -> Value {
    studio.get("/plugins/effects").await.expect(200)
}

#[tokio::test]
async fn every_effect_of_the_engine_is_described() {
    let studio = Studio::without_soundfonts(&[]).await;
    let answer = effects(&studio).await;
    let listed_effects = answer["effects"].as_array().expect("a list");
    assert_eq!(listed_effects.len(), EFFECTS.len());
    for (listed_effect, kind) in listed_effects.iter().zip(EFFECTS) {
        assert_eq!(listed_effect["id"], kind.id);
        assert_eq!(listed_effect["name"], kind.name);
        assert_eq!(listed_effect["has_side_chain"], kind.has_side_chain);
        assert_eq!(listed_effect["impulse_max_secs"], json!(kind.impulse_max_secs));
        let parameters = listed_effect["parameters"].as_array().expect("a list");
        let ids: Vec<&str> =
            parameters.iter().map(|parameter| parameter["id"].as_str().expect("an id")).collect();
        let expected: Vec<&str> = kind.parameters.iter().map(|parameter| parameter.id).collect();
        assert_eq!(ids, expected, "{}", kind.id);
        for parameter in parameters {
            let value = |field: &str| parameter[field].as_f64().expect("a number");
            assert!(value("min") <= value("default") && value("default") <= value("max"), "{parameter}");
            assert_eq!(parameter["scale"] == "choice", parameter["choices"] != json!([]), "{parameter}");
        }
    }
    assert_eq!(answer["vst_effects"], json!([]));
    assert_eq!(answer["cache"], json!({"max_age_secs": 300, "scanned_at": null}));
}

#[tokio::test]
async fn parameters_have_a_unit_range_scale_and_choices() {
    let studio = Studio::without_soundfonts(&[]).await;
    let answer = effects(&studio).await;
    let utility =
        answer["effects"].as_array().unwrap().iter().find(|effect| effect["id"] == "utility").unwrap();
    assert_eq!(utility["group"], "utility");
    let parameter = |id: &str| {
        let parameters = utility["parameters"].as_array().unwrap();
        parameters
            .iter()
            .find(|parameter| parameter["id"] == id)
            .unwrap_or_else(|| panic!("the effect has no parameter {id}"))
            .clone()
    };
    assert_eq!(
        parameter("gain_db"),
        json!({"id": "gain_db", "name": "Gain", "unit": "decibels", "min": -144.0, "max": 36.0, "default": 0.0,
            "scale": "linear", "choices": []})
    );
    assert_eq!(parameter("invert_left")["scale"], "switch");
    let channels = parameter("channels");
    assert_eq!((&channels["scale"], &channels["max"]), (&json!("choice"), &json!(4.0)));
    assert_eq!(channels["choices"], json!(["Stereo", "Swapped", "Left", "Right", "Mono"]));
}

#[tokio::test]
async fn the_list_has_an_etag() {
    let studio = Studio::without_soundfonts(&[]).await;
    let first = studio.get("/plugins/effects").await;
    assert_eq!(first.header("content-type"), "application/json");
    let conditional_answer = |tag: &str| {
        studio.app.local(Method::GET, "/api/v1/plugins/effects").header("if-none-match", tag).send()
    };
    let unchanged_answer = conditional_answer(first.header("etag")).await;
    unchanged_answer.expect(304);
    assert!(unchanged_answer.bytes.is_empty());
    conditional_answer("\"another\"").await.expect(200);
}
