use serde_json::{Value, json};

use crate::test_app::Answer;
use crate::test_studio::{Studio, float_samples, peak, song};

const PATH: &str = "/plugins/soundfont-render";

fn note(tick: f64, length: f64) -> Value {
    json!({"tick": tick, "length_ticks": length, "pitch": 60, "velocity": 0.8})
}

async fn render(studio: &Studio, body: Value) -> Answer {
    let answer = studio.post(PATH, &body).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    answer
}

#[tokio::test]
async fn notes_become_sound() {
    let studio = Studio::start().await;
    let answer =
        render(&studio, json!({"notes": [note(0.0, 960.0)], "soundfont_id": "timgm6mb", "program": 4})).await;
    assert_eq!(answer.header("content-type"), "audio/wav");
    assert_eq!(answer.header("x-soundfont-id"), "timgm6mb");
    assert_eq!(answer.header("x-soundfont-fallback"), "false");
    let samples = float_samples(&answer.bytes);
    assert!(peak(&samples) > 0.01 && peak(&samples) < 1.0, "{}", peak(&samples));
    let secs = samples.len() as f64 / 2.0 / 48_000.0;
    assert!((0.5..5.6).contains(&secs), "expected half a second and its tail: {secs}");

    let answer =
        render(&studio, json!({"notes": [note(0.0, 960.0)], "soundfont_id": "gone", "program": 4})).await;
    assert_eq!(answer.header("x-soundfont-fallback"), "true");
    assert!(float_samples(&answer.bytes) == samples, "the default SoundFont plays, which is the same");

    let other_program = render(&studio, json!({"notes": [note(0.0, 960.0)], "program": 5})).await;
    assert!(float_samples(&other_program.bytes) != samples, "another program must sound different");
    let nothing = float_samples(&render(&studio, json!({"notes": []})).await.bytes);
    assert!(nothing.len() < 2 * 48_000 && peak(&nothing) == 0.0, "{} samples", nothing.len());
}

#[tokio::test]
async fn times_in_seconds_give_the_same_sound() {
    let studio = Studio::start().await;
    let in_ticks = json!({
        "notes": [note(960.0, 960.0), note(1920.0, 480.0)], "tail_secs": 0,
        "controls": [{"tick": 1440, "type": "bend", "value": 4000}],
    });
    let in_seconds = json!({
        "notes": [note(0.5, 0.5), note(1.0, 0.25)], "tail_secs": 0, "time_base": "seconds",
        "controls": [{"tick": 0.75, "type": "bend", "value": 4000}],
    });
    let ticks = float_samples(&render(&studio, in_ticks).await.bytes);
    assert_eq!(ticks.len(), 2 * 60_000);
    assert!(ticks == float_samples(&render(&studio, in_seconds).await.bytes));
}

#[tokio::test]
async fn tempo_rate_and_tail_are_applied() {
    let studio = Studio::start().await;
    let body = json!({
        "notes": [note(0.0, 960.0)], "tempo_map": [{"tick": 0, "bpm": 60}], "sample_rate_hz": 44100, "tail_secs": 0,
    });
    assert_eq!(float_samples(&render(&studio, body).await.bytes).len(), 2 * 44_100);
    let body =
        json!({"notes": [note(0.0, 960.0)], "program": 48, "sample_rate_hz": 96000, "tail_secs": 0.25});
    assert_eq!(float_samples(&render(&studio, body).await.bytes).len(), 2 * (48_000 + 24_000));
}

#[tokio::test]
async fn a_rendered_track_equals_the_track_in_the_mix() {
    let studio = Studio::start().await;
    let controls = json!([{"tick": 100, "type": "cc", "controller": 11, "value": 80}]);
    let mut project = song(0, 48, controls.clone());
    // Reverb and chorus are silenced, because the mixer adds them to all tracks together.
    project["settings"] = json!({"reverb": {"level_db": -144}, "chorus": {"level_db": -144}});
    let notes = project["tracks"][0]["items"][0]["notes"].clone();
    let body = json!({"notes": notes, "controls": controls, "program": 48, "tail_secs": 0});
    let track = float_samples(&render(&studio, body).await.bytes);
    let request = json!({"project": project, "bit_depth": "float32", "tail_secs": 0});
    let answer = studio.post("/plugins/render", &request).await.expect(200);
    let file = studio.get(answer["audio_url"].as_str().unwrap().strip_prefix("/api/v1").unwrap()).await;
    let mix = float_samples(&file.bytes);
    assert!(
        peak(&track) > 0.001 && peak(&track) < 0.5,
        "expected a peak below the limiter: {}",
        peak(&track)
    );
    assert!(
        track == mix[..track.len()],
        "with the fader at 0 dB and the pan in the centre, the samples are the same"
    );
}

#[tokio::test]
async fn sends_are_rendered_on_request() {
    let studio = Studio::start().await;
    let render_with_sends = |reverb: u8, chorus: u8| {
        let controls = json!([{"tick": 0, "type": "cc", "controller": 91, "value": reverb},
                              {"tick": 0, "type": "cc", "controller": 93, "value": chorus}]);
        json!({"notes": [note(0.0, 960.0)], "controls": controls, "tail_secs": 0})
    };
    let channels = async |mut body: Value| {
        let stereo = float_samples(&render(&studio, body.clone()).await.bytes);
        body["sends"] = true.into();
        let bytes = render(&studio, body).await.bytes;
        let mut reader = hound::WavReader::new(&bytes[..]).expect("a WAV file");
        assert_eq!((reader.spec().channels, reader.spec().sample_format), (4, hound::SampleFormat::Float));
        assert_eq!(&bytes[40..44], &[0; 4], "the channel mask is 0");
        let samples: Vec<f32> = reader.samples().map(Result::unwrap).collect();
        let (frames, []) = samples.as_chunks::<4>() else { panic!("the last frame is incomplete") };
        let main: Vec<f32> = frames.iter().flat_map(|frame| [frame[0], frame[1]]).collect();
        assert!(main == stereo);
        [2, 3].map(|channel| peak(&frames.iter().map(|frame| frame[channel]).collect::<Vec<_>>()))
    };
    // Presets have their own sends, and the controllers add to them.
    let (preset, reverb, chorus) = (
        channels(render_with_sends(0, 0)).await,
        channels(render_with_sends(127, 0)).await,
        channels(render_with_sends(0, 127)).await,
    );
    assert!(reverb[0] > preset[0] + 0.01 && reverb[1] == preset[1], "{preset:?}, {reverb:?}");
    assert!(chorus[1] > preset[1] + 0.01 && chorus[0] == preset[0], "{preset:?}, {chorus:?}");
}

#[tokio::test]
async fn invalid_notes_are_refused_with_their_pointer() {
    let studio = Studio::start().await;
    let check = async |body: Value, code: &str, pointer: &str| {
        let answer = studio.post(PATH, &body).await;
        answer.problem(400, code);
        if !pointer.is_empty() {
            assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{}", answer.json());
        }
    };
    check(
        json!({"notes": [{"tick": 0, "length_ticks": 1, "pitch": 128, "velocity": 1}]}),
        "invalid_notes",
        "/notes/0/pitch",
    )
    .await;
    check(json!({"notes": [note(-1.0, 1.0)]}), "invalid_notes", "/notes/0/tick").await;
    check(json!({"notes": [note(0.5, 1.0)]}), "invalid_notes", "/notes/0/tick").await;
    check(json!({"notes": [note(2e9, 1.0)]}), "invalid_notes", "/notes/0/tick").await;
    check(json!({"notes": [7]}), "invalid_notes", "/notes/0").await;
    check(
        json!({"notes": [], "controls": [{"tick": 0, "type": "wind"}]}),
        "invalid_notes",
        "/controls/0/type",
    )
    .await;
    check(json!({"notes": [], "bank": 129}), "invalid_notes", "/bank").await;
    check(json!({"notes": [], "program": "organ"}), "invalid_notes", "/program").await;
    check(json!({"notes": [], "tempo_map": [{"tick": 5, "bpm": 100}]}), "invalid_notes", "/tempo_map/0/tick")
        .await;
    check(json!({"notes": [], "settings": {"polyphony": 1}}), "invalid_notes", "/settings/polyphony").await;
    check(json!({"notes": [], "time_base": "seconds", "tempo_map": []}), "tempo_map_in_seconds", "").await;
    check(json!({"notes": [], "sample_rate_hz": 8000}), "unsupported_sample_rate", "").await;
    check(json!({"notes": [], "tail_secs": 61}), "bad_tail", "").await;
    check(json!({"notes": [], "tail_secs": -1}), "bad_tail", "").await;
    check(json!({"notes": [], "volume": 11}), "unexpected_json", "").await;
    check(json!({}), "unexpected_json", "").await;
}

#[tokio::test]
async fn a_too_long_song_is_refused_before_it_is_rendered() {
    let studio = Studio::start().await;
    let body = json!({"notes": [note(0.0, 1e9)]});
    let detail = studio.post(PATH, &body).await.problem(422, "too_long");
    assert!(detail.contains("520833 seconds"), "{detail}");
}

#[tokio::test]
async fn an_unavailable_renderer_answers_501() {
    let off = Studio::with(&[("SF_SOUNDFONT_RENDER", "off")]).await;
    let detail = off.post(PATH, &json!({"notes": []})).await.problem(501, "soundfont_render_unavailable");
    assert!(detail.contains("SF_SOUNDFONT_RENDER"), "{detail}");
    assert_eq!(off.get("/system/capabilities").await.expect(200)["soundfont_render"], false);

    let none = Studio::without_soundfonts(&[]).await;
    none.post(PATH, &json!({"notes": [note(0.0, 1.0)]})).await.problem(501, "soundfont_render_unavailable");
    let request = json!({"project": song(0, 0, json!([]))});
    none.post("/plugins/render", &request).await.problem(501, "soundfont_render_unavailable");
}

#[tokio::test]
async fn the_paths_of_earlier_versions_name_their_replacement() {
    let studio = Studio::without_soundfonts(&[]).await;
    for path in ["/plugins/vst-render", "/plugins/vst-fx-process"] {
        let detail = studio.post(path, &json!({})).await.problem(404, "legacy_render_path");
        assert!(detail.contains("/api/v1/plugins/"), "{detail}");
        studio.get(path).await.problem(404, "legacy_render_path");
    }
}

#[tokio::test]
async fn a_render_does_not_use_the_disk_reserve() {
    let studio = Studio::with(&[("SF_DISK_RESERVE_BYTES", "1125899906842624")]).await;
    studio.post(PATH, &json!({"notes": [note(0.0, 960.0)]})).await.problem(507, "storage_full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_sound_has_the_rendered_samples_and_is_read_in_ranges() {
    let studio = Studio::start().await;
    let body = json!({"notes": [note(0.0, 960.0)], "program": 4, "tail_secs": 0.25, "sends": true});
    let whole = render(&studio, body.clone()).await.bytes;
    let store = async |body: &Value| studio.post("/plugins/soundfont-sounds", body).await.expect(200);
    let sound = store(&body).await;
    assert_eq!((&sound["frames"], &sound["channels"]), (&json!(36_000), &json!(4)));
    let path = format!("/plugins/sounds/{}", sound["sound_id"].as_str().unwrap());
    assert!(studio.get(&path).await.bytes == whole);
    assert_eq!(store(&body).await["sound_id"], sound["sound_id"], "the stored sound is used again");
    for (field, value) in [("program", json!(5)), ("tail_secs", json!(0.5)), ("sends", json!(false))] {
        let mut other = body.clone();
        other[field] = value;
        assert_ne!(store(&other).await["sound_id"], sound["sound_id"], "{field}");
    }
}
