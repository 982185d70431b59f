//! Tests of mixes, stems and frozen tracks through the real router. Their samples are compared one
//! by one.

use std::io::{Cursor, Read as _};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD, with_form};
use crate::test_app::Answer;
use crate::test_studio::{Studio, float_samples, peak};

const MIXDOWN: &str = "/multitrack/mixdown";
const STEMS: &str = "/multitrack/stems";
const FREEZE: &str = "/multitrack/freeze";

/// Largest allowed difference between two renders of the same sound: -120 dBFS.
const NULL_PEAK: f32 = 1e-6;

/// The last bit of a 32-bit float between 0.5 and 1: -144 dBFS.
const LAST_BIT: f32 = f32::EPSILON / 2.0;

/// Starts a task, waits for its end and returns it.
async fn finished(studio: &Studio, path: &str, body: &Value) -> Value {
    let started = studio.post(path, body).await.expect(202);
    assert!(studio.app.state.tasks.wait_until_drained(Duration::from_secs(120)).await);
    studio.get(&format!("/tasks/{}", started["task_id"].as_str().expect("an id"))).await.expect(200)
}

async fn result(studio: &Studio, path: &str, body: &Value) -> Value {
    let task = finished(studio, path, body).await;
    assert_eq!(task["state"], "succeeded", "{task}");
    task["result"].clone()
}

async fn failure(studio: &Studio, path: &str, body: &Value) -> Value {
    let task = finished(studio, path, body).await;
    assert_eq!(task["state"], "failed", "{task}");
    task["error"].clone()
}

/// Renders the mix as the page exports it.
async fn mix(studio: &Studio, project: &Value) -> Vec<f32> {
    let request = json!({ "project": project, "bit_depth": "float32" });
    let answer = studio.post("/plugins/render", &request).await.expect(200);
    assert_eq!(answer["receipt"]["left_out"], json!([]));
    let file = studio.app.local(Method::GET, answer["audio_url"].as_str().expect("an address")).send().await;
    let samples = float_samples(&file.bytes);
    assert!(
        (0.05..0.7).contains(&peak(&samples)),
        "the peak {} is not audible, or not below the limiter",
        peak(&samples)
    );
    samples
}

/// Returns the largest difference of two signals, up to the end of the shorter one.
fn difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |largest_difference, (a, b)| (a - b).abs().max(largest_difference))
}

fn notes(pitches: &[u8]) -> Value {
    let note = |(index, pitch): (usize, &u8)| json!({ "tick": 480 * index, "length_ticks": 420, "pitch": pitch, "velocity": 0.6 });
    let notes: Vec<Value> = pitches.iter().enumerate().map(note).collect();
    json!([{ "type": "midi", "id": "m", "start_tick": 0, "length_ticks": 480 * pitches.len(), "notes": notes }])
}

fn engine(bank: u8, program: u8) -> Value {
    json!({ "type": "soundfont", "bank": bank, "program": program })
}

fn effect(id: &str, name: &str, params: Value) -> Value {
    json!({ "id": id, "type": "builtin", "name": name, "params": params })
}

/// Returns a song with instruments, a recording, a bus with a reverb, a group, effects and
/// automation.
async fn song(studio: &Studio) -> Value {
    let sound = sine_wav(330.0, 48_000, 0.8);
    let upload_answer =
        with_form(studio.app.local(Method::POST, UPLOAD), &[("tone.wav", &sound)]).send().await;
    let file_id = upload_answer.expect(201)["files"][0]["id"].clone();
    let moving = json!([{ "target": "volume_db", "points": [
        { "tick": 0, "value": -20 }, { "tick": 960, "value": -2 }, { "tick": 1900, "value": -9 }] }]);
    json!({
        "schema_version": 1, "project_id": "song", "name": "Söng", "master": { "volume_db": -3 },
        "tracks": [
            { "id": "piano", "name": "Piano/1", "kind": "instrument", "synth_engine": engine(0, 0), "pan": 0.5,
              "volume_db": -8, "items": notes(&[60, 64, 67, 72]), "automation": moving },
            { "id": "drums", "name": "Drums", "kind": "instrument", "synth_engine": engine(128, 0), "volume_db": -10,
              "items": notes(&[36, 42, 38, 42]),
              "effects": [effect("limit", "limiter", json!({ "ceiling_dbtp": -6 }))] },
            { "id": "bass", "name": "Bass", "kind": "instrument", "synth_engine": engine(0, 33), "volume_db": -9,
              "items": notes(&[36, 36, 43, 36]), "output": "group" },
            { "id": "voice", "name": "Voice", "kind": "audio", "volume_db": -14, "pan": -0.4,
              "items": [{ "type": "audio", "id": "a", "start_tick": 240, "source": { "server_file_id": file_id } }],
              "effects": [effect("c", "compressor", json!({ "threshold_db": -20, "ratio": 4 })),
                  effect("d", "delay", json!({ "mix": 0.3, "feedback": 0.3 }))],
              "sends": [{ "to": "room", "level_db": -6 }] },
            { "id": "silent", "name": "Muted", "kind": "instrument", "synth_engine": engine(0, 80), "mute": true,
              "items": notes(&[90]) },
            { "id": "room", "name": "Room", "kind": "bus", "volume_db": -2,
              "effects": [effect("r", "reverb", json!({ "mix": 1, "decay_secs": 0.6 }))] },
            { "id": "group", "name": "Group", "kind": "group", "volume_db": -1, "items": [] },
        ],
    })
}

fn track<'p>(project: &'p Value, id: &str) -> &'p Value {
    project["tracks"].as_array().expect("tracks").iter().find(|track| track["id"] == id).expect("the track")
}

async fn file(studio: &Studio, file: &Value) -> Vec<f32> {
    let path = format!("/audio/{}/file", file["id"].as_str().expect("an id"));
    float_samples(&studio.get(&path).await.bytes)
}

/// Returns the names and samples of the stems in an archive.
fn unpacked(bytes: &[u8]) -> Vec<(String, Vec<f32>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    (0..zip.len())
        .map(|number| {
            let mut entry = zip.by_index(number).expect("an entry");
            let mut wav = Vec::new();
            entry.read_to_end(&mut wav).expect("reads");
            (entry.name().expect("a name").into_owned(), float_samples(&wav))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn stems_add_up_to_the_mix() {
    let studio = Studio::start().await;
    let project = song(&studio).await;
    let song_mix = mix(&studio, &project).await;
    let stems_result = result(&studio, STEMS, &json!({ "project": project, "tail_secs": 3 })).await;
    let storage = studio.get("/admin/storage").await.expect(200);
    assert!(storage["render_disk_bytes"].as_u64() > stems_result["size_bytes"].as_u64(), "{storage}");
    let answer =
        studio.app.local(Method::GET, stems_result["url"].as_str().expect("an address")).send().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
    assert_eq!(stems_result["size_bytes"], answer.bytes.len());
    let stems = unpacked(&answer.bytes);
    let names: Vec<&str> = stems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["01 Piano_1.wav", "02 Drums.wav", "03 Bass.wav", "04 Voice.wav"]);
    let track_ids: Vec<&Value> =
        stems_result["stems"].as_array().expect("stems").iter().map(|stem| &stem["track_id"]).collect();
    assert_eq!(track_ids, ["piano", "drums", "bass", "voice"]);
    let length = stems[0].1.len();
    assert_eq!(stems_result["duration_secs"], length as f64 / 2.0 / 48_000.0);
    assert!(stems.iter().all(|(_, samples)| samples.len() == length) && length >= song_mix.len());
    let mut sum = vec![0.0; length];
    for (name, samples) in &stems {
        assert!(peak(samples) > 0.01, "{name}");
        sum.iter_mut().zip(samples).for_each(|(sum, sample)| *sum += sample);
    }
    let residual = difference(&sum, &song_mix);
    assert!(residual <= LAST_BIT, "{residual}");
}

/// The engine adds the tracks in their order, as 32-bit floats.
#[tokio::test(flavor = "multi_thread")]
async fn stems_without_a_shared_reverb_add_up_to_the_mix_to_the_last_bit() {
    let studio = Studio::start().await;
    let track = |id: &str, pan: f64, pitch: u8| {
        json!({ "id": id, "name": id, "kind": "instrument", "synth_engine": engine(0, 4), "volume_db": -3, "pan": pan,
                "items": notes(&[pitch, pitch + 4, pitch + 7]) })
    };
    let project = json!({
        "schema_version": 1, "project_id": "song", "name": "Song",
        "settings": { "reverb": { "level_db": -144 }, "chorus": { "level_db": -144 } },
        "tracks": [track("a", -0.7, 48), track("b", 0.4, 60), track("c", 0.0, 72)],
    });
    let song_mix = mix(&studio, &project).await;
    let stems_result = result(&studio, STEMS, &json!({ "project": project, "tail_secs": 3 })).await;
    let stems =
        unpacked(&studio.app.local(Method::GET, stems_result["url"].as_str().unwrap()).send().await.bytes);
    let mut sum = vec![0.0_f32; stems[0].1.len()];
    for (_, samples) in &stems {
        sum.iter_mut().zip(samples).for_each(|(sum, sample)| *sum += sample);
    }
    assert_eq!(stems.len(), 3);
    assert!(sum.starts_with(&song_mix), "the largest difference is {}", difference(&sum, &song_mix));
}

#[tokio::test(flavor = "multi_thread")]
async fn stems_ignore_the_limiter_solo_and_master_effects() {
    let studio = Studio::start().await;
    let mut project = song(&studio).await;
    let quiet_request = json!({ "project": project, "tracks": ["drums"] });
    let stems_result = result(&studio, STEMS, &quiet_request).await;
    let quiet_request =
        unpacked(&studio.app.local(Method::GET, stems_result["url"].as_str().unwrap()).send().await.bytes);
    project["master"] = json!({ "volume_db": 21, "effects": [effect("x", "saturator", json!({}))] });
    project["tracks"][0]["solo"] = true.into();
    project["tracks"][1]["volume_db"] = 4.into();
    let stems_result = result(&studio, STEMS, &json!({ "project": project, "tracks": ["drums"] })).await;
    let loud =
        unpacked(&studio.app.local(Method::GET, stems_result["url"].as_str().unwrap()).send().await.bytes);
    let factor = 10_f32.powf(38.0 / 20.0);
    let scaled: Vec<f32> = quiet_request[0].1.iter().map(|sample| sample * factor).collect();
    assert!(peak(&loud[0].1) > 1.0, "{}", peak(&loud[0].1));
    let residual = difference(&loud[0].1, &scaled);
    assert!(residual < 1e-5, "{residual}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stem_of_a_bus_or_group_contains_the_signal_that_passes_through_it() {
    let studio = Studio::start().await;
    let mut project = song(&studio).await;
    let stems = async |project: &Value, tracks: Value| -> Vec<Vec<f32>> {
        let stems_result = result(&studio, STEMS, &json!({ "project": project, "tracks": tracks })).await;
        let url = stems_result["url"].as_str().expect("an address");
        let stems = unpacked(&studio.app.local(Method::GET, url).send().await.bytes);
        stems.into_iter().map(|(_, samples)| samples).collect()
    };
    // The bass plays through the group only.
    let of_tracks = stems(&project, json!(["bass", "voice", "room", "group"])).await;
    let [bass, voice, room, group] = &of_tracks[..] else { panic!("{} stems", of_tracks.len()) };
    assert!(bass == group && peak(bass) > 0.01, "the samples differ");
    // The voice plays directly and through the bus `room`.
    project["tracks"][3]["sends"] = json!([]);
    let direct_stem = &stems(&project, json!(["voice"])).await[0];
    let sum: Vec<f32> = direct_stem.iter().zip(room).map(|(direct_stem, room)| direct_stem + room).collect();
    assert!(peak(room) > 0.001 && difference(&sum, voice) < NULL_PEAK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stem_through_the_master_is_the_mix_of_its_track() {
    let studio = Studio::start().await;
    let mut project = song(&studio).await;
    project["master"] = json!({ "volume_db": 12, "effects": [effect("x", "saturator", json!({}))] });
    let request = json!({ "project": project, "tracks": ["drums"], "through_master": true });
    let stems_result = result(&studio, STEMS, &request).await;
    let stems =
        unpacked(&studio.app.local(Method::GET, stems_result["url"].as_str().unwrap()).send().await.bytes);
    let request = json!({ "project": project, "tracks": ["drums"], "bit_depth": "float32" });
    let answer = studio.post("/plugins/render", &request).await.expect(200);
    let file = studio.app.local(Method::GET, answer["audio_url"].as_str().unwrap()).send().await.bytes;
    let mix = float_samples(&file);
    // A stem has the maximum tail, but a mix ends when it is silent.
    assert!(mix.len() <= stems[0].1.len() && peak(&mix) > 0.1);
    assert!(mix == stems[0].1[..mix.len()], "the samples differ");
}

#[tokio::test(flavor = "multi_thread")]
async fn stems_are_written_in_the_requested_format() {
    let studio = Studio::start().await;
    let project = song(&studio).await;
    let request = json!({ "project": project, "tracks": ["drums", "bass"], "format": "flac",
        "metadata": { "artist": "Ada" } });
    let stems_result = result(&studio, STEMS, &request).await;
    let bytes = studio.app.local(Method::GET, stems_result["url"].as_str().unwrap()).send().await.bytes;
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    assert_eq!(zip.len(), 2);
    for number in 0..2 {
        let mut entry = zip.by_index(number).expect("an entry");
        let name = entry.name().expect("a name").into_owned();
        assert!(name.ends_with(".flac"), "{name}");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("reads");
        assert!(content.starts_with(b"fLaC"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_track_sounds_like_the_original() {
    let studio = Studio::start().await;
    let mut project = song(&studio).await;
    let mix_before = mix(&studio, &project).await;
    for (id, stage) in [
        ("voice", "before_fader"),
        ("drums", "before_fader"),
        ("bass", "before_fader"),
        ("piano", "after_fader"),
    ] {
        let request = json!({ "project": project, "track_id": id, "stage": stage, "tail_secs": 6 });
        let freeze_result = result(&studio, FREEZE, &request).await;
        assert_eq!(freeze_result["project"], Value::Null, "a result does not contain the whole project");
        let mut changed_project = project.clone();
        let tracks = changed_project["tracks"].as_array_mut().expect("tracks");
        *tracks.iter_mut().find(|track| track["id"] == id).expect("the track") =
            freeze_result["track"].clone();
        let current_track = track(&changed_project, id);
        assert_eq!(
            (&current_track["kind"], &current_track["output"]),
            (&json!("audio"), &track(&project, id)["output"])
        );
        assert_eq!(current_track["items"][0]["server_file_id"], freeze_result["file"]["id"]);
        assert_eq!(current_track["effects"], Value::Null);
        // The next tracks are frozen in the project that already has the earlier frozen tracks.
        project = changed_project;
        let mix_after = mix(&studio, &project).await;
        let residual = difference(&mix_after, &mix_before);
        assert!(residual < NULL_PEAK, "{id}: {residual}");
    }
    // The frozen audio would contain the gain of the fader, so a track with a send before its
    // fader cannot be frozen after the fader.
    let mut sending = project.clone();
    sending["tracks"][0]["sends"] = json!([{ "to": "room", "level_db": -6, "pre_fader": true }]);
    let id = sending["tracks"][0]["id"].clone();
    let request = json!({ "project": sending, "track_id": id, "stage": "after_fader" });
    let refusal = failure(&studio, FREEZE, &request).await;
    assert_eq!(refusal["code"], "send_before_fader", "{refusal}");
    assert_eq!(track(&project, "voice")["sends"][0]["to"], "room");
    assert_eq!(track(&project, "piano")["automation"], json!([]));
    studio.post("/projects", &project).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_track_plays_its_recording_and_keeps_the_original() {
    let studio = Studio::start().await;
    let mut project = song(&studio).await;
    let mix_before = mix(&studio, &project).await;
    let index =
        |id: &str| ["piano", "drums", "bass", "voice"].iter().position(|track_id| *track_id == id).unwrap();
    let mut first_recording = Vec::new();
    for (id, length_frames) in [("bass", 48_000), ("drums", 48_000), ("voice", 44_400)] {
        let freeze_result = result(&studio, FREEZE, &json!({ "project": project, "track_id": id })).await;
        assert_eq!(
            freeze_result["frozen"],
            json!({ "server_file_id": freeze_result["file"]["id"], "length_frames": length_frames,
                "sample_rate_hz": 48_000, "tempo_map": [{ "tick": 0, "bpm": 120.0 }] })
        );
        if id == "drums" {
            first_recording = file(&studio, &freeze_result["file"]).await;
        }
        project["tracks"][index(id)]["frozen"] = freeze_result["frozen"].clone();
        let mix_after = mix(&studio, &project).await;
        assert_eq!(mix_after.len(), mix_before.len(), "{id}");
        let residual = difference(&mix_after, &mix_before);
        assert!(residual < NULL_PEAK, "{id}: {residual}");
    }
    // The recording does not follow edits of the original. Freezing again renders the original.
    let freeze_result = mix(&studio, &project).await;
    let mut edited_project = project.clone();
    let drums = &mut edited_project["tracks"][index("drums")];
    (drums["items"], drums["effects"]) = (notes(&[40]), json!([]));
    assert!(mix(&studio, &edited_project).await == freeze_result);
    let refrozen = result(&studio, FREEZE, &json!({ "project": project, "track_id": "drums" })).await;
    assert!(file(&studio, &refrozen["file"]).await == first_recording);
    assert!(refrozen["track"].get("frozen").is_none(), "the new track would play the old recording");
    let after_fader = json!({ "project": project, "track_id": "drums", "stage": "after_fader" });
    assert_eq!(result(&studio, FREEZE, &after_fader).await["frozen"], Value::Null);
    // A recording that is missing is silent, and the export names it.
    project["tracks"][index("drums")]["frozen"]["server_file_id"] = "gone".into();
    let render_answer = studio.post("/plugins/render", &json!({ "project": project })).await.expect(200);
    assert_eq!(
        render_answer["receipt"]["left_out"],
        json!([{ "pointer": "/tracks/1/frozen", "reason": "the audio file \"gone\" is missing" }])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mixdown_is_the_mix_as_an_audio_file() {
    let studio = Studio::start().await;
    let project = song(&studio).await;
    studio.post("/projects", &project).await.expect(201);
    let song_mix = mix(&studio, &project).await;
    let stems_result = result(&studio, MIXDOWN, &json!({ "project_id": "song", "name": "Bounce 1/2" })).await;
    assert_eq!(stems_result["file"]["name"], "Bounce 1_2.wav");
    assert!(
        stems_result["lufs"].as_f64().is_some_and(|lufs| lufs < 0.0)
            && stems_result["true_peak_db"].is_number(),
        "{stems_result}"
    );
    assert_eq!(file(&studio, &stems_result["file"]).await, song_mix);
    let listed_files = studio.get("/audio").await.expect(200);
    assert_eq!(listed_files["items"][0]["id"], stems_result["file"]["id"]);
    let request = json!({ "project_id": "song", "bit_depth": "pcm16", "sample_rate_hz": 44100 });
    let stems_result = result(&studio, MIXDOWN, &request).await;
    assert_eq!(
        (&stems_result["file"]["sample_rate_hz"], &stems_result["file"]["name"]),
        (&json!(44_100), &json!("Söng.wav"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_stems_and_frozen_tracks_give_a_warning() {
    let studio = Studio::start().await;
    let item = json!({ "type": "audio", "id": "a", "start_tick": 0, "source": { "server_file_id": "gone" } });
    let mut project = song(&studio).await;
    project["tracks"]
        .as_array_mut()
        .expect("tracks")
        .push(json!({ "id": "gone", "kind": "audio", "items": [item] }));
    let silence_warnings = |result: &Value| {
        let warnings = result["warnings"].as_array().expect("warnings");
        warnings.iter().filter(|text| text.as_str().is_some_and(|text| text.contains("silent"))).count()
    };
    // A file that contains only dither counts as silent.
    let request = |extra_fields: Value| {
        let mut request = json!({ "project": project, "bit_depth": "pcm16", "tail_secs": 0 });
        request.as_object_mut().expect("fields").extend(extra_fields.as_object().expect("fields").clone());
        request
    };
    for (path, options, expected) in [
        (STEMS, json!({ "tracks": ["gone"] }), 1),
        (STEMS, json!({ "tracks": ["gone", "voice"] }), 0),
        (FREEZE, json!({ "track_id": "gone" }), 1),
        (FREEZE, json!({ "track_id": "voice" }), 0),
    ] {
        let result = result(&studio, path, &request(options.clone())).await;
        assert_eq!(silence_warnings(&result), expected, "{path} {options}: {}", result["warnings"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_exports_are_refused_with_the_reason() {
    let studio = Studio::start().await;
    let empty = json!({ "schema_version": 1, "project_id": "x", "tracks": [
        { "id": "t", "kind": "instrument", "items": [] }] });
    let request = |path: &str, extra_fields: Value| {
        let mut request = json!({ "project": empty });
        if path == FREEZE {
            request["track_id"] = "t".into();
        }
        request.as_object_mut().expect("fields").extend(extra_fields.as_object().expect("fields").clone());
        request
    };
    for path in [MIXDOWN, STEMS, FREEZE] {
        studio.post(path, &request(path, json!({ "project": null }))).await.problem(400, "one_project");
        studio
            .post(path, &request(path, json!({ "project": null, "project_id": "none" })))
            .await
            .problem(404, "not_found");
        studio
            .post(path, &request(path, json!({ "sample_rate_hz": 8000 })))
            .await
            .problem(400, "unsupported_sample_rate");
        let detail =
            studio.post(path, &request(path, json!({ "tail_secs": 900 }))).await.problem(400, "bad_tail");
        assert!(detail.contains("900") && detail.contains("SF_TAIL_MAX_SECS"), "{detail}");
        studio
            .post(path, &request(path, json!({ "bit_depth": "pcm12" })))
            .await
            .problem(400, "unexpected_json");
        let unsupported = [
            ("normalize", json!({ "lufs": -14 })),
            ("channel_check", json!(true)),
            ("gain_db", json!(3)),
            ("track", json!("t")),
        ];
        // A mixdown can be normalized and checked.
        for (name, value) in unsupported.into_iter().skip(if path == MIXDOWN { 2 } else { 0 }) {
            let answer = studio.post(path, &request(path, json!({ name: value }))).await;
            let detail = answer.problem(400, "unsupported_option");
            assert!(detail.contains(&format!("`{name}`")), "{path}: {detail}");
        }
        let invalid = failure(&studio, path, &request(path, json!({ "project": { "tracks": 7 } }))).await;
        assert_eq!((&invalid["code"], &invalid["status"]), (&json!("invalid_project"), &json!(400)));
        studio
            .app
            .remote(Method::POST, &format!("/api/v1{path}"))
            .json(&request(path, json!({})))
            .send()
            .await
            .problem(401, "token_missing");
    }
    studio.post(FREEZE, &json!({ "project": empty })).await.problem(400, "unexpected_json");
    studio.post(FREEZE, &request(FREEZE, json!({ "stage": "later" }))).await.problem(400, "unexpected_json");
    assert_eq!(failure(&studio, STEMS, &request(STEMS, json!({}))).await["code"], "nothing_to_render");
    assert_eq!(failure(&studio, FREEZE, &request(FREEZE, json!({}))).await["code"], "nothing_to_render");
    let missing = failure(&studio, FREEZE, &request(FREEZE, json!({ "track_id": "gone" }))).await;
    assert!(
        missing["code"] == "not_found" && missing["detail"].as_str().unwrap().contains("`gone`"),
        "{missing}"
    );
    assert_eq!(
        failure(&studio, STEMS, &request(STEMS, json!({ "tracks": ["gone"] }))).await["code"],
        "not_found"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stems_are_private_and_the_newest_ten_are_kept() {
    let studio = Studio::start().await;
    let request = json!({ "project": song(&studio).await, "tracks": ["voice"], "tail_secs": 0 });
    let first = result(&studio, STEMS, &request).await;
    let path = first["url"].as_str().expect("an address").to_owned();
    let token = studio.app.token_of_new_user("ada").await;
    studio.app.remote(Method::GET, &path).token(&token).send().await.problem(404, "not_found");
    studio.app.remote(Method::GET, &path).send().await.problem(401, "token_missing");
    let got: Answer = studio.app.local(Method::GET, &path).header("range", "bytes=0-3").send().await;
    assert_eq!((got.status.as_u16(), got.bytes.as_slice()), (206, &b"PK\x03\x04"[..]));
    for id in ["none", "..%2F..%2Fx"] {
        studio.get(&format!("/multitrack/stems/{id}/file")).await.problem(404, "not_found");
    }
    for _ in 0..10 {
        result(&studio, STEMS, &request).await;
    }
    studio.app.local(Method::GET, &path).send().await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn stems_do_not_use_the_disk_reserve() {
    let studio = Studio::with(&[("SF_DISK_RESERVE_BYTES", "1125899906842624")]).await;
    let project = crate::test_studio::song(0, 0, json!([]));
    assert_eq!(failure(&studio, STEMS, &json!({ "project": project })).await["code"], "storage_full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_song_that_needs_more_memory_than_the_limit_is_refused_with_the_reason() {
    let studio = Studio::with(&[("SF_RENDER_MEMORY_BYTES", "67108864")]).await;
    let delays: Vec<Value> = (0..50).map(|n| effect(&format!("d{n}"), "delay", json!({}))).collect();
    let track = json!({ "id": "t", "kind": "instrument", "synth_engine": engine(0, 0), "items": notes(&[60]),
        "effects": delays });
    let project = json!({ "schema_version": 1, "project_id": "large", "tracks": [track] });
    for path in [MIXDOWN, STEMS, FREEZE] {
        let mut request = json!({ "project": project });
        if path == FREEZE {
            request["track_id"] = "t".into();
        }
        let refusal = failure(&studio, path, &request).await;
        assert_eq!((&refusal["code"], &refusal["status"]), (&json!("too_much_memory"), &json!(422)));
        let detail = refusal["detail"].as_str().expect("a detail");
        assert!(
            detail.contains(" MiB for delay effects (50)") && detail.contains("52 MiB"),
            "{path}: {detail}"
        );
    }
}
