//! Tests of DAWproject files through the real router, with real audio.

use std::io::{Cursor, Read as _, Write as _};

use axum::http::Method;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD, with_form};
use crate::test_app::{Answer, TestApp};

const PROJECTS: &str = "/api/v1/projects";
const IMPORT: &str = "/api/v1/projects/import/dawproject";

struct Studio {
    app: TestApp,
    ada: String,
}

impl Studio {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let app = TestApp::with(settings).await;
        let ada = app.token_of_new_user("ada").await;
        Self { app, ada }
    }

    async fn upload(&self, name: &str, bytes: &[u8]) -> String {
        let call = with_form(self.app.remote(Method::POST, UPLOAD).token(&self.ada), &[(name, bytes)]);
        call.send().await.expect(201)["files"][0]["id"].as_str().expect("an id").to_owned()
    }

    async fn save(&self, project: &Value) {
        let call = self.app.remote(Method::POST, PROJECTS).token(&self.ada).json(project);
        call.send().await.expect(201);
    }

    async fn get(&self, token: &str, path: &str) -> Answer {
        self.app.remote(Method::GET, path).token(token).send().await
    }

    async fn import(&self, token: &str, bytes: Vec<u8>) -> Answer {
        self.app.remote(Method::POST, IMPORT).token(token).raw("application/zip", bytes).send().await
    }

    /// Imports a file and returns the answer and the stored project.
    async fn imported(&self, bytes: Vec<u8>) -> (Value, Value) {
        let answer = self.import(&self.ada, bytes).await.expect(201);
        let id = answer["project_id"].as_str().expect("an id").to_owned();
        let project = self.get(&self.ada, &format!("{PROJECTS}/{id}")).await.expect(200);
        (answer, project)
    }

    /// Returns the name of the project of a file that is imported with this query.
    async fn name_of_import(&self, query: &str, bytes: Vec<u8>) -> Value {
        let call = self.app.remote(Method::POST, &format!("{IMPORT}?{query}")).token(&self.ada);
        let answer = call.raw("application/zip", bytes).send().await.expect(201);
        let id = answer["project_id"].as_str().expect("an id").to_owned();
        self.get(&self.ada, &format!("{PROJECTS}/{id}")).await.expect(200)["name"].clone()
    }

    async fn audio_count(&self, token: &str) -> usize {
        let list = self.get(token, "/api/v1/audio").await.expect(200);
        list["items"].as_array().expect("a list").len()
    }

    async fn refused(&self, bytes: Vec<u8>, named: &str) {
        let detail = self.import(&self.ada, bytes).await.problem(400, "bad_dawproject");
        assert!(detail.contains(named), "{detail}");
    }
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file(*name, options).expect("starts");
        zip.write_all(content).expect("writes");
    }
    zip.finish().expect("finishes").into_inner()
}

/// Returns an archive with only this content of the project's element.
fn file_of(project: &str) -> Vec<u8> {
    let text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Project version=\"1.0\">{project}</Project>");
    archive(&[("project.xml", text.as_bytes())])
}

/// Returns an archive with one track `t` whose lanes have this content.
fn file_of_lanes(lanes: &str) -> Vec<u8> {
    file_of(&format!(
        "<Structure><Track id=\"t\" name=\"T\"><Channel id=\"c\" role=\"regular\"/></Track></Structure>\
         <Arrangement><Lanes timeUnit=\"beats\"><Lanes track=\"t\">{lanes}</Lanes></Lanes></Arrangement>"
    ))
}

fn entry(bytes: &[u8], name: &str) -> Vec<u8> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let mut content = Vec::new();
    zip.by_name(name).expect("the entry").read_to_end(&mut content).expect("reads");
    content
}

/// Checks the elements of a file's project against the schema of the format.
#[track_caller]
fn assert_valid(file: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("project.xml"), entry(file, "project.xml")).expect("writes");
    let grammar = concat!(env!("CARGO_MANIFEST_DIR"), "/src/dawproject/written_project.rng");
    let output = std::process::Command::new("xmllint")
        .current_dir(folder.path())
        .args(["--noout", "--relaxng", grammar, "project.xml"])
        .output()
        .expect("xmllint runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns a project with all data that the format can contain. The ids of tracks and items are
/// those that an import assigns.
fn song(file: &str) -> Value {
    let audio = |number: u32, more: Value| {
        let mut item = json!({ "type": "audio", "id": format!("audio-{number}"), "start_tick": 961, "offset_frames": 0,
            "gain_db": 0.0, "loop": false, "source": { "server_file_id": file }, "server_file_id": file,
            "audio_file_url": format!("/api/v1/audio/{file}/file") });
        item.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        item
    };
    let keys = json!(
            { "id": "track-2", "name": "Keys", "kind": "instrument", "volume_db": -3.5, "pan": -0.3, "mute": true,
              "solo": true, "bypass": false, "output": "track-1",
              "sends": [{ "to": "track-4", "level_db": -12.0, "pre_fader": true }],
              "synth_engine": { "type": "soundfont", "soundfont_id": "bank", "bank": 128, "program": 25 },
              "automation": [
                { "target": "volume_db", "points": [{ "tick": 0, "value": -60.0, "curve": "linear" },
                    { "tick": 960, "value": 0.0, "curve": "step" }] },
                { "target": "pan", "points": [{ "tick": 7, "value": -1.0, "curve": "linear" },
                    { "tick": 901, "value": 0.7, "curve": "linear" }] },
                { "target": "send/track-4", "points": [{ "tick": 0, "value": -12.0, "curve": "linear" }] }],
              "items": [
                { "type": "midi", "id": "clip-1", "name": "Verse \u{e9}", "start_tick": 1921, "length_ticks": 3841,
                  "notes": [{ "tick": 0, "length_ticks": 961, "pitch": 60, "velocity": 0.8 },
                    { "tick": 1, "length_ticks": 7, "pitch": 127, "velocity": 1.0 },
                    { "tick": 3000, "length_ticks": 841, "pitch": 0, "velocity": 0.007874015748031496 }],
                  "controls": [{ "tick": 0, "type": "bend", "value": -8192 }, { "tick": 5, "type": "cc", "controller": 64, "value": 127 },
                    { "tick": 6, "type": "pressure", "value": 1 }, { "tick": 7, "type": "key_pressure", "key": 60, "value": 99 },
                    { "tick": 8, "type": "program", "program": 77 }, { "tick": 9, "type": "cc", "controller": 1, "value": 64 },
                    { "tick": 10, "type": "bend", "value": 8191 }, { "tick": 11, "type": "bend", "value": 0 }] },
                { "type": "midi", "id": "clip-2", "start_tick": 9600, "length_ticks": 960, "notes": [] }] }
    );
    json!({
        "schema_version": 1, "project_id": "song", "name": "A \"B\" <C> & Ä", "sample_rate_hz": 48000,
        "tempo_map": [{ "tick": 0, "bpm": 96.5 }, { "tick": 7680, "bpm": 133.0 }, { "tick": 9000, "bpm": 60.0 }],
        "time_signatures": [{ "tick": 0, "numerator": 4, "denominator": 4 }, { "tick": 15360, "numerator": 7, "denominator": 8 }],
        "markers": [{ "tick": 0, "name": "Start" }, { "tick": 7681, "name": "<Faster>" }],
        "master": { "volume_db": -1.5, "automation": [{ "target": "volume_db", "points": [
            { "tick": 0, "value": -144.0, "curve": "linear" }, { "tick": 500, "value": 3.25, "curve": "step" }] }] },
        "tracks": [
            { "id": "track-1", "name": "Band", "kind": "group", "color": "#4f8df7", "volume_db": -2.0, "pan": 0.1,
              "mute": false, "solo": false, "bypass": false, "items": [] },
            keys,
            { "id": "track-3", "name": "Guitar", "kind": "audio", "volume_db": -144.0, "pan": 1.0, "mute": false,
              "solo": false, "bypass": false, "items": [
                audio(1, json!({ "name": "Take 1", "offset_frames": 4801, "length_frames": 12347,
                    "fades": { "in_frames": 480, "out_frames": 961 }, "gain_db": -6.5 })),
                audio(2, json!({ "start_tick": 7000, "length_frames": 48000 })),
                audio(3, json!({ "start_tick": 19200, "offset_frames": 24000, "length_frames": 480_001, "loop": true }))] },
            { "id": "track-4", "name": "Room", "kind": "bus", "volume_db": 24.0, "pan": 0.0, "mute": false,
              "solo": false, "bypass": false, "items": [] },
        ],
    })
}

/// Fails with the path of the first field of `expected` that differs in `actual`.
fn assert_same(actual: &Value, expected: &Value, path: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (name, expected) in expected {
                let actual = actual.get(name).unwrap_or(&Value::Null);
                assert_same(actual, expected, &format!("{path}/{name}"));
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{path}: {actual:?}");
            for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                assert_same(actual, expected, &format!("{path}/{index}"));
            }
        }
        (Value::Number(actual), Value::Number(expected)) => {
            assert_eq!(actual.as_f64(), expected.as_f64(), "{path}");
        }
        _ => assert_eq!(actual, expected, "{path}"),
    }
}

#[tokio::test]
async fn an_exported_project_returns_unchanged() {
    let studio = Studio::start(&[]).await;
    let wav = sine_wav(440.0, 48_000, 1.0);
    let file = studio.upload("../Gui\"tar.wav", &wav).await;
    let mut project = song(&file);
    studio.save(&project).await;
    let path = format!("{PROJECTS}/song/dawproject");
    let answer = studio.get(&studio.ada, &path).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
    assert!(answer.header("content-disposition").contains(".dawproject"), "{:?}", answer.headers);
    let zip = ZipArchive::new(Cursor::new(&answer.bytes)).expect("an archive");
    let names: Vec<String> = zip.file_names().map(|name| name.expect("a name").into_owned()).collect();
    assert_eq!(names.len(), 3, "the recording is there once: {names:?}");
    let audio_name = (*names.iter().find(|name| name.starts_with("audio/")).expect("audio")).to_owned();
    assert_eq!(entry(&answer.bytes, &audio_name), wav);
    assert_eq!(studio.get(&studio.ada, &path).await.bytes, answer.bytes);
    assert_valid(&answer.bytes);

    let (imported_project, actual) = studio.imported(answer.bytes.clone()).await;
    assert_eq!(imported_project["warnings"], json!([]));
    assert_eq!((&imported_project["audio_added"], &imported_project["audio_known"]), (&json!(0), &json!(1)));
    project["project_id"] = imported_project["project_id"].clone();
    assert_same(&actual, &project, "");

    let bob = studio.app.token_of_new_user("bob").await;
    studio.get(&bob, &path).await.problem(404, "not_found");
    let imported_project = studio.import(&bob, answer.bytes).await.expect(201);
    assert_eq!(imported_project["audio_added"], json!(1));
    assert_eq!(studio.audio_count(&bob).await, 1);
}

#[tokio::test]
async fn the_comment_lists_data_that_the_format_cannot_contain() {
    let studio = Studio::start(&[]).await;
    let text = include_str!("../../../schemas/examples/valid/everything.json");
    let mut project: Value = serde_json::from_str(text).expect("JSON");
    project["name"] = json!("\u{1}<&\">\n");
    studio.save(&project).await;
    let answer = studio.get(&studio.ada, &format!("{PROJECTS}/everything/dawproject")).await;
    assert_eq!(answer.status, 200);
    let comment = String::from_utf8(entry(&answer.bytes, "metadata.xml")).expect("text");
    for named in ["effects", "plugin instruments", "curves of automation", "sections"] {
        assert!(comment.contains(named), "{named}: {comment}");
    }
    assert_valid(&answer.bytes);
    let (imported_project, actual) = studio.imported(answer.bytes).await;
    assert_eq!(actual["name"], "<&\">");
    assert_eq!(imported_project["audio_added"], 0);
}

#[tokio::test]
async fn a_project_with_the_maximum_number_of_tracks_and_many_sends_is_exported_and_imported() {
    let studio = Studio::start(&[]).await;
    let bus = |index: usize| json!({ "id": format!("track-{}", index + 1), "name": "Bus", "kind": "bus" });
    let sends: Vec<_> = (0..64).map(|index| json!({ "to": format!("track-{}", index + 1) })).collect();
    let track = |index: usize| {
        let sends = if index < 600 { json!(sends) } else { json!([]) };
        json!({ "id": format!("track-{}", index + 1), "name": "Track", "kind": "audio", "sends": sends })
    };
    let tracks: Vec<_> = (0..64).map(bus).chain((64..1_000).map(track)).collect();
    studio.save(&json!({ "schema_version": 1, "project_id": "large", "tracks": tracks })).await;
    let file = studio.get(&studio.ada, &format!("{PROJECTS}/large/dawproject")).await;
    assert_eq!(file.status, 200);
    let (_, actual) = studio.imported(file.bytes).await;
    let actual = actual["tracks"].as_array().expect("a list").clone();
    assert_eq!(actual.len(), 1_000);
    let sends: usize = actual.iter().map(|track| track["sends"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(sends, 536 * 64);
}

#[tokio::test]
async fn a_file_without_a_title_gets_the_name_of_the_query() {
    let studio = Studio::start(&[]).await;
    let project = b"<Project version=\"1.0\"/>";
    let untitled =
        || archive(&[("project.xml", project), ("metadata.xml", b"<MetaData><Title/></MetaData>")]);
    let titled =
        archive(&[("project.xml", project), ("metadata.xml", b"<MetaData><Title>T</Title></MetaData>")]);
    assert_eq!(studio.name_of_import("name=My%20song%0A", untitled()).await, "My song");
    assert_eq!(studio.name_of_import("name=", untitled()).await, "Imported project");
    assert_eq!(studio.name_of_import("name=My%20song", titled).await, "T");
}

/// A file as Bitwig Studio writes it: nested clips, warps, a group and an effect channel.
const NESTED: &str = r##"
<Application name="Bitwig Studio" version="5.0"/>
<Transport><Tempo max="666" min="20" unit="bpm" value="120" id="id0"/>
 <TimeSignature denominator="4" numerator="3" id="id1"/></Transport>
<Structure>
 <Track contentType="tracks" loaded="true" id="id2" name="Group" color="#a2eabfFF">
  <Channel audioChannels="2" destination="id30" role="master" solo="false" id="id3">
   <Volume max="2" min="0" unit="linear" value="0.5" id="id4"/></Channel>
  <Track contentType="notes" id="id5" name="Bass">
   <Channel destination="id3" role="regular" solo="true" id="id6">
    <Devices><ClapPlugin deviceID="x" deviceName="Surge XT" deviceRole="instrument" id="id7"><State path="plugins/a.clap-preset"/></ClapPlugin></Devices>
    <Mute value="true" id="id8"/><Pan max="1" min="0" unit="normalized" value="0.25" id="id9"/>
    <Sends><Send destination="id21" type="post" id="id10"><Volume unit="decibel" value="-6" id="id11"/></Send></Sends>
    <Volume unit="decibel" value="-12" id="id12"/></Channel></Track>
  <Track contentType="audio" id="id13" name="Drums"><Channel destination="id3" role="regular" id="id14"/></Track>
 </Track>
 <Track contentType="audio" id="id20" name="FX"><Channel destination="id30" role="effect" id="id21"/></Track>
 <Track contentType="audio notes" id="id29" name="Master"><Channel role="master" id="id30">
  <Volume unit="linear" value="1" id="id31"/></Channel></Track>
</Structure>
<Arrangement id="id40"><Lanes timeUnit="beats" id="id41">
 <Lanes track="id5" id="id42"><Clips id="id43">
  <Clip time="4" duration="5" playStart="1" loopStart="0" loopEnd="2" name="Riff"><Notes id="id44">
   <Note time="0" duration="0.5" channel="0" key="40" vel="0.5" rel="0.5"/>
   <Note time="1.5" duration="1" channel="0" key="43" vel="1"/></Notes></Clip>
  <Clip time="12" duration="2" reference="id44"/>
  <Clip time="20" duration="2"><Clips><Clip time="0.5" duration="1"><Notes timeUnit="seconds">
   <Note time="0.25" duration="9" key="50"/></Notes></Clip></Clips></Clip>
 </Clips>
 <Points unit="linear" id="id45"><Target parameter="id12"/><RealPoint time="0" value="0.1" interpolation="hold"/></Points>
 <Points unit="normalized"><Target parameter="id8"/><BoolPoint time="0" value="true"/></Points></Lanes>
 <Lanes track="id13"><Clips>
  <Clip time="0" duration="2" playStart="0" fadeTimeUnit="beats" fadeInTime="0.5" fadeOutTime="0" name="Loop"><Clips>
   <Clip time="0" duration="2" contentTimeUnit="beats" playStart="0"><Warps contentTimeUnit="seconds" timeUnit="beats">
    <Audio algorithm="stretch" channels="1" duration="1" sampleRate="48000"><File path="audio/a 1.wav"/></Audio>
    <Warp time="0" contentTime="0"/><Warp time="2" contentTime="1"/></Warps></Clip></Clips></Clip>
  <Clip time="8" duration="1" contentTimeUnit="beats" name="Fast"><Warps contentTimeUnit="seconds" timeUnit="beats">
    <Audio channels="1" duration="1" sampleRate="48000"><File path="audio/a 1.wav"/></Audio>
    <Warp time="0" contentTime="0"/><Warp time="1" contentTime="1"/></Warps></Clip>
  <Clip time="9" duration="1" name="Gone"><Audio channels="1" duration="1" sampleRate="48000"><File path="../../etc/passwd"/></Audio></Clip>
 </Clips></Lanes>
</Lanes>
<Markers><Marker time="2" name="Here"/></Markers>
<TempoAutomation timeUnit="beats" unit="bpm"><Target parameter="id0"/><RealPoint time="0" value="120" interpolation="hold"/>
 <RealPoint time="16" value="60" interpolation="hold"/></TempoAutomation>
</Arrangement>
<Scenes><Scene name="Scene 1"><Lanes><ClipSlot track="id5"><Clip time="0"/></ClipSlot></Lanes></Scene>
 <Scene name="Scene 2"><Lanes><ClipSlot track="id5"/></Lanes></Scene></Scenes>"##;

#[tokio::test]
async fn nested_clips_of_another_program_are_imported() {
    let studio = Studio::start(&[]).await;
    let wav = sine_wav(440.0, 48_000, 1.0);
    let text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Project version=\"1.0\">{NESTED}</Project>");
    let bytes = archive(&[
        ("metadata.xml", b"<MetaData><Title>My &amp; song</Title></MetaData>"),
        ("project.xml", text.as_bytes()),
        ("audio/a 1.wav", &wav),
        ("plugins/a.clap-preset", b"x"),
        ("../../x", b"x"),
    ]);
    let (answer, actual) = studio.imported(bytes).await;
    let id = actual["tracks"][2]["items"][0]["server_file_id"].clone();
    let note = |tick: u32, length: u32, pitch: u32, velocity: f64| json!({ "tick": tick, "length_ticks": length, "pitch": pitch, "velocity": velocity });
    let expected = json!({
        "name": "My & song", "tempo_map": [{ "tick": 0, "bpm": 120 }, { "tick": 15360, "bpm": 60 }],
        "time_signatures": [{ "tick": 0, "numerator": 3, "denominator": 4 }],
        "markers": [{ "tick": 1920, "name": "Here" }], "master": { "volume_db": 0 },
        "tracks": [
            { "name": "Group", "kind": "group", "color": "#a2eabf", "volume_db": -6.020599913, "output": null },
            { "name": "Bass", "kind": "instrument", "mute": true, "solo": true, "pan": -0.5, "volume_db": -12,
              "output": "track-1", "sends": [{ "to": "track-4", "level_db": -6, "pre_fader": false }],
              "automation": [{ "target": "volume_db", "points": [{ "tick": 0, "value": -20, "curve": "step" }] }],
              "items": [
                { "name": "Riff", "start_tick": 3840, "length_ticks": 4800, "notes": [note(480, 480, 43, 1.0),
                    note(960, 480, 40, 0.5), note(2400, 480, 43, 1.0), note(2880, 480, 40, 0.5), note(4320, 480, 43, 1.0)] },
                { "start_tick": 11520, "length_ticks": 1920, "notes": [note(0, 480, 40, 0.5), note(1440, 480, 43, 1.0)] },
                { "start_tick": 19200, "length_ticks": 1920, "notes": [note(720, 720, 50, 0.787402)] }] },
            { "name": "Drums", "kind": "audio", "output": "track-1", "items": [
                { "name": "Loop", "start_tick": 0, "offset_frames": 0, "length_frames": 48000, "loop": false,
                  "fades": { "in_frames": 12000, "out_frames": 0 }, "server_file_id": id, "source": { "server_file_id": id } },
                { "name": "Fast", "start_tick": 7680, "offset_frames": 0, "length_frames": 24000 }] },
            { "name": "FX", "kind": "bus" },
        ],
    });
    assert_same(&actual, &expected, "");
    let warnings = answer["warnings"].to_string();
    for named in ["Surge XT", "`Fast`", "Scene 1", "../../etc/passwd", "other parameters"] {
        assert!(warnings.contains(named), "{named}: {warnings}");
    }
    assert!(!warnings.contains("Scene 2"), "{warnings}");
    assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(5), "{warnings}");
}

#[tokio::test]
async fn audio_in_seconds_and_cycles_of_outputs_are_imported() {
    let studio = Studio::start(&[]).await;
    let text = "<Project version=\"1.0\"><Structure>\
        <Track id=\"a\" name=\"A\"><Channel id=\"ca\" role=\"submix\" destination=\"cb\"/></Track>\
        <Track id=\"b\" name=\"B\"><Channel id=\"cb\" role=\"submix\" destination=\"ca\"/></Track>\
        <Track id=\"t\" name=\"T\"><Channel id=\"ct\" role=\"regular\" destination=\"nowhere\"/></Track></Structure>\
        <Arrangement><Lanes timeUnit=\"seconds\"><Lanes track=\"t\"><Clips>\
        <Clip time=\"1\" playStart=\"0.25\" playStop=\"0.5\"><Audio duration=\"1\" sampleRate=\"1\" channels=\"1\">\
        <File path=\"x.wav\"/></Audio></Clip></Clips></Lanes></Lanes></Arrangement></Project>";
    let wav = sine_wav(440.0, 44_100, 1.0);
    let bytes = archive(&[("project.xml", text.as_bytes()), ("x.wav", &wav)]);
    let (answer, actual) = studio.imported(bytes).await;
    let expected = json!({ "tracks": [{ "output": "track-2" }, { "output": null }, { "items": [
        { "start_tick": 1920, "offset_frames": 11025, "length_frames": 11025 }] }] });
    assert_same(&actual, &expected, "");
    assert!(answer["warnings"][0].as_str().is_some_and(|text| text.contains("cycle")), "{answer}");
}

#[tokio::test]
async fn a_file_beyond_a_limit_of_projects_is_refused() {
    let studio = Studio::start(&[]).await;
    let points = "<RealPoint time=\"0\" value=\"0\"/>".repeat(100_001);
    let target = "<Target parameter=\"v\"/>";
    let file = file_of(&format!(
        "<Structure><Track id=\"t\"><Channel role=\"regular\"><Volume id=\"v\" unit=\"linear\" value=\"1\"/></Channel>\
         </Track></Structure><Arrangement><Lanes timeUnit=\"beats\"><Lanes track=\"t\"><Points>{target}{points}</Points>\
         </Lanes></Lanes></Arrangement>"
    ));
    studio.refused(file, "/tracks/0/automation/0/points").await;
}

#[tokio::test]
async fn unreadable_tempos_and_time_signatures_give_warnings() {
    let studio = Studio::start(&[]).await;
    let (answer, project) = studio
        .imported(file_of(
            "<Transport><Tempo value=\"fast\"/><TimeSignature numerator=\"4\" denominator=\"3\"/></Transport>\
             <Arrangement><TempoAutomation timeUnit=\"beats\"><RealPoint time=\"0\" value=\"NaN\"/>\
             <RealPoint time=\"4\" value=\"90\"/></TempoAutomation></Arrangement>",
        ))
        .await;
    let expected = [
        "Tempos that are not numbers were left out (2).",
        "Time signatures that a project cannot have were left out (1).",
    ];
    assert_eq!(answer["warnings"], json!(expected));
    assert_eq!(project["tempo_map"], json!([{ "tick": 0, "bpm": 90.0 }, { "tick": 3840, "bpm": 90.0 }]));
}

#[tokio::test]
async fn hostile_files_are_refused() {
    let studio = Studio::start(&[("SF_PROJECT_MAX_BYTES", "200000")]).await;
    studio.refused(Vec::new(), "cannot be opened").await;
    studio.refused(archive(&[]), "`project.xml` is missing").await;
    studio.refused(archive(&[("project.xml", b"<a/>")]), "is not `Project`").await;
    studio.refused(archive(&[("project.xml", b"\xff\xfe<")]), "UTF-8").await;
    let bomb = b"<!DOCTYPE a [<!ENTITY x \"xx\">]><Project name=\"&x;\"/>";
    studio.refused(archive(&[("project.xml", bomb)]), "document type definition").await;
    studio.refused(file_of("<Structure>"), "not valid XML").await;
    let deep = format!("{}{}", "<Lanes>".repeat(70), "</Lanes>".repeat(70));
    studio.refused(file_of_lanes(&deep), "64 deep").await;
    let clip = |attributes: &str, content: &str| {
        format!("<Clips id=\"k\"><Clip {attributes}>{content}</Clip></Clips>")
    };
    studio.refused(file_of_lanes(&clip("time=\"0\" duration=\"1\" reference=\"k\"", "")), "64 deep").await;
    let note = "<Notes><Note time=\"0\" duration=\"1\" key=\"60\"/></Notes>";
    studio.refused(file_of_lanes(&clip("time=\"NaN\"", note)), "`time` of a `Clip` is `NaN`").await;
    studio.refused(file_of_lanes(&clip("time=\"1e300\"", note)), "1e300").await;
    studio.refused(file_of_lanes(&clip("", note)), "has no `time`").await;
    let endless = clip("time=\"0\" duration=\"1000000\" loopStart=\"0\" loopEnd=\"0.001\"", note);
    studio.refused(file_of_lanes(&endless), "the first 362501 notes and 0 controls need").await;
    let path = "a/".repeat(600);
    let audio = format!("<Audio><File path=\"{path}\"/></Audio>");
    studio.refused(file_of_lanes(&clip("time=\"0\" duration=\"1\"", &audio)), "1200 bytes").await;
    let tracks = "<Track/>".repeat(1_001);
    studio.refused(file_of(&format!("<Structure>{tracks}</Structure>")), "1000 tracks").await;
    let sends = "<Send destination=\"b\"/>".repeat(8_001);
    let bus = format!("<Track><Channel role=\"effect\" id=\"b\"><Sends>{sends}</Sends></Channel></Track>");
    studio.refused(file_of(&format!("<Structure>{bus}</Structure>")), "8000 sends").await;
    let zeros = vec![b' '; 5_000_000];
    let large = archive(&[("project.xml", &zeros)]);
    assert!(studio.import(&studio.ada, large).await.problem(413, "too_large").contains("200000"));
    assert_eq!(studio.get(&studio.ada, PROJECTS).await.expect(200)["items"], json!([]));
    studio
        .app
        .remote(Method::POST, IMPORT)
        .raw("application/zip", "")
        .send()
        .await
        .problem(401, "token_missing");
    let call = studio.app.remote(Method::POST, IMPORT).token(&studio.ada).raw("text/html", "x");
    call.send().await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn an_import_beyond_the_quota_stores_nothing() {
    let studio = Studio::start(&[("SF_AUDIO_QUOTA_BYTES", "60000")]).await;
    let clip = |path: &str| {
        format!(
            "<Clip time=\"0\" duration=\"1\"><Audio duration=\"1\" sampleRate=\"48000\" channels=\"1\"><File path=\"{path}\"/></Audio></Clip>"
        )
    };
    let text = format!(
        "<Project><Structure><Track id=\"t\"/></Structure><Arrangement><Lanes><Lanes track=\"t\"><Clips>{}{}{}</Clips></Lanes>\
         </Lanes></Arrangement></Project>",
        clip("bad.wav"),
        clip("small.wav"),
        clip("large.wav")
    );
    let (small, large) = (sine_wav(1.0, 48_000, 0.05), sine_wav(2.0, 48_000, 1.0));
    let mut entries: Vec<(&str, &[u8])> =
        vec![("project.xml", text.as_bytes()), ("small.wav", &small), ("bad.wav", b"no sound")];
    let (answer, actual) = studio.imported(archive(&entries)).await;
    assert_eq!(actual["tracks"][0]["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(2), "{answer}");
    entries.push(("large.wav", &large));
    let bob = studio.app.token_of_new_user("bob").await;
    studio.import(&bob, archive(&entries)).await.problem(507, "quota_exceeded");
    assert_eq!(studio.audio_count(&bob).await, 0);
    assert_eq!(studio.get(&bob, PROJECTS).await.expect(200)["items"], json!([]));
}
