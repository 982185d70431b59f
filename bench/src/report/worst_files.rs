//! Makes the projects, banks, bundles and audio files that cost the service the most memory for
//! their size.

use std::io::{Cursor, Write as _};

use anyhow::Context as _;
use serde_json::{Value, json};
use songfoundry_server::rendering::budget;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

#[expect(unused_imports, reason = "only the tests of dsp-core use these imports")]
#[path = "../../../dsp-core/tests/maker/mod.rs"]
mod maker;
#[path = "../../../dsp-core/tests/maker/sf3.rs"]
mod sf3;
#[path = "../../../dsp-core/tests/maker/streams.rs"]
mod streams;

use maker::Tables;
use sf3::sf3;
use streams::silent;

/// A body with its media type.
pub(super) struct Body {
    pub(super) media_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

impl Body {
    pub(super) fn json(text: String) -> Self {
        Self { media_type: "application/json", bytes: text.into_bytes() }
    }

    /// Returns a form with one file.
    fn form(name: &str, file: &[u8]) -> Self {
        let head =
            format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let bytes = [head.as_bytes(), file, b"\r\n--b--\r\n"].concat();
        Self { media_type: "multipart/form-data; boundary=b", bytes }
    }
}

/// A request that costs the service much memory for its size.
pub(super) struct WorstRequest {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    /// The path in the OpenAPI document, without the API's prefix.
    pub(super) path: &'static str,
    pub(super) query: &'static str,
    pub(super) body: Body,
}

impl WorstRequest {
    fn post(name: &'static str, path: &'static str, body: Body) -> Self {
        Self { name, method: "POST", path, query: "", body }
    }

    fn get(name: &'static str, path: &'static str) -> Self {
        let body = Body { media_type: "text/plain", bytes: Vec::new() };
        Self { name, method: "GET", path, query: "", body }
    }
}

/// Returns a bank of 60,000 presets and 60,000 zones, each with its own modulators.
fn bank_of_large_tables() -> Vec<u8> {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[900; 200], 50..150);
    let modulators: Vec<_> = (0..53).map(|n| [0x82 + n % 4, 21 + n / 4, 1, 0, 0]).collect();
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[], &modulators), None);
    for number in 0..60_000_u16 {
        tables.add_instrument_zone((&[], &[[2, 17, number, 0, 0]]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let small_instrument = tables.add_instrument();
    tables.add_instrument_zone((&[], &[]), Some(sample));
    for number in 1..60_000 {
        tables.add_preset(number / 128, number % 128);
        tables.add_preset_zone((&[], &[]), Some(small_instrument));
    }
    tables.bytes()
}

/// Returns a bank of one audible preset.
fn audible_bank() -> Vec<u8> {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[900; 200], 50..150);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.bytes()
}

/// Returns SoundFonts for a folder of the service, with their file names.
pub(super) fn hostile_banks() -> Vec<(&'static str, Vec<u8>)> {
    let long_track = silent((1 << 26) - 1, &[]);
    vec![
        ("shared.sf3", sf3(std::slice::from_ref(&long_track), 8)),
        ("shared1.sf3", sf3(&[silent((1 << 26) - 4_096, &[])], 8)),
        ("shared2.sf3", sf3(&[silent((1 << 26) - 8_192, &[])], 8)),
        ("shared3.sf3", sf3(&[silent((1 << 26) - 12_288, &[])], 8)),
        ("long.sf3", sf3(&[long_track.clone(), long_track.clone(), silent(3 << 24, &[])], 1)),
        ("medium.sf3", sf3(&[silent(24_000_000, &[])], 1)),
        ("toolong.sf3", sf3(&vec![long_track; 8], 1)),
        ("codebooks.sf3", sf3(&vec![silent(4_096, &[19, 18, 17]); 40], 1)),
        ("tables.sf2", bank_of_large_tables()),
        ("audible.sf2", audible_bank()),
    ]
}

/// Returns a request for a note from each of the banks.
pub(super) fn note_requests() -> Vec<WorstRequest> {
    let banks = [
        ("shared", "Bank of 167 KB: one stream of 128 MiB, in 8 headers"),
        ("shared1", "Second bank with such a stream"),
        ("shared2", "Third bank with such a stream"),
        ("shared3", "Fourth bank with such a stream"),
        ("long", "Bank of 460 KB: 352 MiB of silence"),
        ("toolong", "Bank of 1.3 MB: 1 GiB of silence"),
        ("codebooks", "Bank of 12 KB: codebooks that are slow to build"),
        ("tables", "Bank of 4 MB: 60,000 presets, and zones with their own lists"),
    ];
    let body = |bank| {
        let body = json!({
            "soundfont_id": bank, "tail_secs": 0.1,
            "notes": [{"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1}],
        });
        Body::json(body.to_string())
    };
    banks.map(|(bank, name)| WorstRequest::post(name, "/plugins/soundfont-render", body(bank))).into()
}

/// Returns a project of these tracks, without an id.
fn project(tracks: &[String]) -> String {
    format!(r#"{{"schema_version":1,"project_id":"","tracks":[{}]}}"#, tracks.join(","))
}

/// Returns a track of these notes. `fields` is the JSON of the track's other fields.
fn instrument(id: &str, fields: &str, notes: &str) -> String {
    format!(
        r#"{{"id":"{id}","kind":"instrument",{fields}"items":[{{"type":"midi","id":"{id}","start_tick":0,
        "length_ticks":9600,"notes":[{notes}]}}]}}"#
    )
}

/// Returns buses with delays. In the first `automated` buses, the first delay has the largest
/// number of automation points.
fn buses(count: usize, delays: usize, automated: usize) -> Vec<String> {
    let points: Vec<String> =
        (0..POINTS_MAX).map(|tick| format!(r#"{{"tick":{tick},"value":0.5}}"#)).collect();
    let points = points.join(",");
    let bus = |bus: usize| {
        let delay = |number| json!({"id": format!("e{bus}-{number}"), "type": "builtin", "name": "delay"});
        let effects: Value = (0..delays).map(delay).collect();
        let lane = match bus < automated {
            true => format!(r#"{{"target":"e{bus}-0/mix","points":[{points}]}}"#),
            false => String::new(),
        };
        format!(r#"{{"id":"b{bus}","kind":"bus","effects":{effects},"automation":[{lane}]}}"#)
    };
    (0..count).map(bus).collect()
}

/// Largest number of points in an automation lane.
const POINTS_MAX: usize = 100_000;

/// Returns a valid project that needs `memory_bytes` besides its SoundFonts. It has `notes` notes
/// of a silent SoundFont, `lanes` automation lanes, and delays for the remaining memory, fed by an
/// audible track.
fn valid_project(soundfont_id: &str, notes: usize, lanes: usize, memory_bytes: u64) -> String {
    /// Memory of a delay at 48 kHz with its part of a track.
    const DELAY_BYTES: u64 = 2_185_000;
    /// Memory of a note, which is two events, or of an automation point.
    const EVENT_BYTES: u64 = 100;
    /// Memory of all other parts of the session.
    const OTHER_BYTES: u64 = 6_000_000;
    /// Number of delays on each bus.
    const DELAYS: usize = 4;
    let spent_bytes = OTHER_BYTES + EVENT_BYTES * (notes + lanes * POINTS_MAX) as u64;
    let delays = memory_bytes.saturating_sub(spent_bytes) / DELAY_BYTES;
    let buses = buses(delays as usize / DELAYS, DELAYS, lanes);
    let sends: Value = (0..buses.len()).map(|bus| json!({"to": format!("b{bus}")})).collect();
    let engine =
        |id| format!(r#""synth_engine":{{"type":"soundfont","soundfont_id":"{id}","bank":0,"program":0}},"#);
    let note = |ticks| format!(r#"{{"tick":0,"length_ticks":{ticks},"pitch":60,"velocity":1}}"#);
    let silent_track = instrument("bass", &engine(soundfont_id), &vec![note(240); notes].join(","));
    let audible_track =
        instrument("lead", &format!(r#"{}"sends":{sends},"#, engine("audible")), &note(9_600));
    project(&[vec![silent_track, audible_track], buses].concat())
}

/// Returns the worst valid project. It needs the memory limit of one user's renders and the largest
/// accepted SoundFont. The service's examples use the id of its instrument.
pub(super) fn worst_project() -> String {
    valid_project("long", 360_000, 4, budget::DEFAULT_BYTES / 5 * 4)
}

/// Returns a project that, with its SoundFont, needs the memory that one user's renders leave to
/// others.
pub(super) fn small_project() -> String {
    valid_project("medium", 1, 0, budget::DEFAULT_BYTES / 5)
}

/// Returns a bundle with this project and manifest, and with empty entries.
fn bundle(manifest: &str, project: &str, empty_entries: usize) -> anyhow::Result<Body> {
    archive(&[("bundle.json", manifest), ("project.json", project)], empty_entries)
}

/// Returns a bundle with as many files and as long a list of them as possible. Its first file is
/// slow to decode.
pub(super) fn slow_bundle() -> anyhow::Result<Body> {
    let sound = silent(44_000_000, &[]);
    let paths = (0..19_998).map(|number| format!("audio/{number:0110}"));
    let list: Vec<Value> = paths
        .clone()
        .map(|path| json!({"server_file_id": path[100..], "path": path, "name": "", "sha256": "", "size_bytes": 0}))
        .collect();
    let manifest = json!({
        "format": "songfoundry-bundle", "version": 1, "project_id": "song", "name": "Song", "audio": list, "missing": [],
    });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in [("bundle.json", manifest.to_string()), ("project.json", project(&[]))] {
        zip.start_file(name, options)?;
        zip.write_all(text.as_bytes())?;
    }
    for (number, path) in paths.enumerate() {
        zip.start_file(path, options)?;
        if number == 0 {
            zip.write_all(&sound)?;
        }
    }
    finish_archive(zip)
}

/// Returns a zip archive with these texts, and with empty entries.
fn archive(texts: &[(&str, &str)], empty_entries: usize) -> anyhow::Result<Body> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in texts {
        zip.start_file(*name, options)?;
        zip.write_all(text.as_bytes())?;
    }
    for number in 0..empty_entries {
        zip.start_file(format!("audio/{number}"), options)?;
    }
    finish_archive(zip)
}

fn finish_archive(zip: ZipWriter<Cursor<Vec<u8>>>) -> anyhow::Result<Body> {
    let bytes = zip.finish().context("the archive cannot be finished")?.into_inner();
    Ok(Body { media_type: "application/zip", bytes })
}

/// Returns a DAWproject file with one track of one clip: its attributes and its notes.
fn dawproject(clip: &str, notes: &str) -> anyhow::Result<Body> {
    let project = format!(
        "<Project><Structure><Track id=\"t\"><Channel id=\"c\" role=\"regular\"/></Track></Structure><Arrangement>\
         <Lanes timeUnit=\"beats\"><Lanes track=\"t\"><Clips><Clip time=\"0\" {clip}><Notes>{notes}</Notes></Clip>\
         </Clips></Lanes></Lanes></Arrangement></Project>"
    );
    archive(&[("project.xml", &project)], 0)
}

/// Returns the manifest of a bundle with missing audio.
fn manifest(missing: usize) -> String {
    json!({
        "format": "songfoundry-bundle", "version": 1, "project_id": "song", "name": "Song",
        "audio": [], "missing": vec!["x"; missing],
    })
    .to_string()
}

/// Returns a short sound to upload.
pub(super) fn short_sound() -> Body {
    Body::form("short.ogg", &silent(48_000, &[]))
}

/// Returns the body of a request to render a project.
fn render_body(project: &str) -> Body {
    Body::json(format!(r#"{{"project":{project},"tail_secs":0.1}}"#))
}

/// Returns the worst requests whose bodies do not follow from a schema, and the worst requests for
/// SoundFonts.
pub(super) fn worst_requests() -> anyhow::Result<Vec<WorstRequest>> {
    const MIB: usize = 1 << 20;
    let empty_notes = project(&[instrument("t", "", &vec!["{}"; 11_000_000].join(","))]);
    let form = Body::form;
    let file = |media_type| Body { media_type, bytes: vec![0; 32 * MIB] };
    let render = "/plugins/render";
    let dawproject_import = "/projects/import/dawproject";
    let note = "<Note time=\"0\" duration=\"1\" key=\"60\" vel=\"1\"/>";
    let letters = ('a'..='t').map(|letter| format!(" {letter}=\"\"")).collect::<String>();
    let attributes = format!("<Note{letters}/>");
    Ok(vec![
        WorstRequest::post("Project of 32 MB of empty notes", "/projects", Body::json(empty_notes.clone())),
        WorstRequest::post("The same project, rendered", render, render_body(&empty_notes)),
        WorstRequest::post(
            "The same project in a small bundle",
            "/projects/import",
            bundle(&manifest(0), &empty_notes, 0)?,
        ),
        WorstRequest::post(
            "Bundle of the worst valid project",
            "/projects/import",
            bundle(&manifest(0), &worst_project(), 0)?,
        ),
        WorstRequest::post(
            "Bundle of 20,000 entries and a manifest of 4 MiB",
            "/projects/import",
            bundle(&manifest(MIB - 100), &project(&[]), 19_990)?,
        ),
        WorstRequest::post(
            "Bundle of 100,000 entries",
            "/projects/import",
            bundle(&manifest(0), &project(&[]), 100_000)?,
        ),
        WorstRequest::post(
            "DAWproject file of 500,000 notes",
            dawproject_import,
            dawproject("duration=\"500000\"", &note.repeat(500_000))?,
        ),
        WorstRequest::post(
            "DAWproject file of 200 notes, repeated 5,000 times",
            dawproject_import,
            dawproject("duration=\"5000\" loopStart=\"0\" loopEnd=\"1\"", &note.repeat(200))?,
        ),
        WorstRequest::post(
            "DAWproject file of 5,000,000 attributes",
            dawproject_import,
            dawproject("duration=\"1\"", &attributes.repeat(250_000))?,
        ),
        WorstRequest::post(
            "Project of 6,400 delays, rendered",
            render,
            render_body(&project(&buses(400, 16, 0))),
        ),
        WorstRequest::post(
            "Valid project of 1,000 delays (2,000 MiB), rendered",
            render,
            render_body(&project(&buses(20, 50, 0))),
        ),
        WorstRequest::post(
            "Upload of 15 minutes of silence in 90 KB",
            "/audio/upload",
            form("a.ogg", &silent(44_000_000, &[])),
        ),
        WorstRequest::post(
            "Reference of 15 minutes of silence in 90 KB",
            "/audio/reference",
            form("a.ogg", &silent(44_000_000, &[])),
        ),
        WorstRequest {
            method: "PATCH",
            ..WorstRequest::post(
                "Part of 32 MiB of an upload",
                "/audio/uploads/{id}",
                file("application/offset+octet-stream"),
            )
        },
        WorstRequest {
            query: "?name=zeros.bin",
            ..WorstRequest::post("File of 32 MiB", "/files/save", file("application/octet-stream"))
        },
        WorstRequest::post(
            "Upload of a bank of 60,000 presets, and zones with lists",
            "/plugins/soundfonts/upload",
            form("zones.sf2", &bank_of_large_tables()),
        ),
        WorstRequest::get("Catalogue with these banks", "/plugins/soundfonts/catalog"),
        WorstRequest {
            query: "?presets=0:0",
            ..WorstRequest::get("Bank of 352 MiB reduced", "/plugins/soundfonts/download/long")
        },
        WorstRequest {
            query: "?presets=0:0",
            ..WorstRequest::get("Bank of 128 MiB reduced", "/plugins/soundfonts/download/shared")
        },
        WorstRequest::post(
            "MIDI file of 16 MB of notes",
            "/multitrack/midi/import",
            Body { media_type: "audio/midi", bytes: midi_file(16_000_000) },
        ),
        WorstRequest::post(
            "MIDI file of 360,000 notes",
            "/multitrack/midi/import",
            Body { media_type: "audio/midi", bytes: midi_file(360_000 * 6) },
        ),
    ])
}

/// Returns a MIDI file of one track of notes.
fn midi_file(bytes: usize) -> Vec<u8> {
    let mut track = vec![0, 0x90, 60, 100];
    while track.len() + 8 < bytes {
        // These are a note off and the next note on, with running status.
        track.extend([1, 60, 0, 1, 60, 100]);
    }
    track.extend([0, 0xff, 0x2f, 0]);
    let mut file = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
    file.extend((track.len() as u32).to_be_bytes());
    file.extend(track);
    file
}

#[cfg(test)]
mod tests {
    use dsp_core::mixer::Slots;
    use schemas::json::JsonText;
    use schemas::validate::validate;

    use super::*;

    #[test]
    fn projects_are_valid_and_need_the_memory_limit() {
        for (notes, lanes, limit_bytes) in [(9_000, 1, 300_000_000), (1, 0, budget::DEFAULT_BYTES / 5)] {
            let song = valid_project("long", notes, lanes, limit_bytes);
            let document = JsonText::read(song.as_bytes()).expect("JSON").with_text("project_id", "song");
            assert_eq!(validate(&document), Ok(()));
            let project = schemas::read::project(&document).expect("a project");
            let session = schemas::session::build(&project, 48_000, |_| Some(0)).expect("a session");
            let need = session.memory_need(Slots { banks: &[], audio: &[] }).expect("routes");
            let ratio = need.bytes() as f64 / limit_bytes as f64;
            assert!((0.9..=1.0).contains(&ratio), "{ratio}: {:?}", need.components());
        }
    }
}
