//! The worst projects, banks, bundles and sounds for their size.

use std::io::{Cursor, Write as _};

use anyhow::Context as _;
use serde_json::{Value, json};
use songfoundry_server::rendering::budget;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

#[expect(unused_imports, reason = "tests make other banks with it")]
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

    /// A form with one file.
    fn form(name: &str, file: &[u8]) -> Self {
        let head =
            format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let bytes = [head.as_bytes(), file, b"\r\n--b--\r\n"].concat();
        Self { media_type: "multipart/form-data; boundary=b", bytes }
    }
}

/// A request with the worst that it may carry.
pub(super) struct Worst {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    /// As in the service's description, without what all paths begin with.
    pub(super) path: &'static str,
    pub(super) query: &'static str,
    pub(super) body: Body,
}

impl Worst {
    fn post(name: &'static str, path: &'static str, body: Body) -> Self {
        Self { name, method: "POST", path, query: "", body }
    }

    fn get(name: &'static str, path: &'static str) -> Self {
        let body = Body { media_type: "text/plain", bytes: Vec::new() };
        Self { name, method: "GET", path, query: "", body }
    }
}

/// A bank of tables: zones without number, each with a list of modulators of its own, and as many
/// presets.
fn tables_only() -> Vec<u8> {
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
    let small = tables.add_instrument();
    tables.add_instrument_zone((&[], &[]), Some(sample));
    for number in 1..60_000 {
        tables.add_preset(number / 128, number % 128);
        tables.add_preset_zone((&[], &[]), Some(small));
    }
    tables.bytes()
}

/// A bank of one sound.
fn audible() -> Vec<u8> {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[900; 200], 50..150);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.bytes()
}

/// SoundFonts by the names of their files, which lie in a folder of the service.
pub(super) fn banks() -> Vec<(&'static str, Vec<u8>)> {
    let long = silent((1 << 26) - 1, &[]);
    vec![
        ("shared.sf3", sf3(std::slice::from_ref(&long), 8)),
        ("shared1.sf3", sf3(&[silent((1 << 26) - 4_096, &[])], 8)),
        ("shared2.sf3", sf3(&[silent((1 << 26) - 8_192, &[])], 8)),
        ("shared3.sf3", sf3(&[silent((1 << 26) - 12_288, &[])], 8)),
        ("long.sf3", sf3(&[long.clone(), long.clone(), silent(3 << 24, &[])], 1)),
        ("medium.sf3", sf3(&[silent(24_000_000, &[])], 1)),
        ("toolong.sf3", sf3(&vec![long; 8], 1)),
        ("codebooks.sf3", sf3(&vec![silent(4_096, &[19, 18, 17]); 40], 1)),
        ("tables.sf2", tables_only()),
        ("audible.sf2", audible()),
    ]
}

/// Notes for each of the banks.
pub(super) fn notes() -> Vec<Worst> {
    let banks = [
        ("shared", "Bank of 167 KB: one stream of 128 MiB, in 8 headers"),
        ("shared1", "Another such bank"),
        ("shared2", "A third such bank"),
        ("shared3", "A fourth such bank"),
        ("long", "Bank of 460 KB: 352 MiB of silence"),
        ("toolong", "Bank of 1.3 MB: 1 GiB of silence"),
        ("codebooks", "Bank of 12 KB: codebooks that take long to build"),
        ("tables", "Bank of 4 MB: 60,000 presets, and zones with lists of their own"),
    ];
    let body = |bank| {
        let body = json!({
            "soundfont_id": bank, "tail_secs": 0.1,
            "notes": [{"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1}],
        });
        Body::json(body.to_string())
    };
    banks.map(|(bank, name)| Worst::post(name, "/plugins/soundfont-render", body(bank))).into()
}

/// A project of these tracks, to which the service gives an id.
fn project(tracks: &[String]) -> String {
    format!(r#"{{"schema_version":1,"project_id":"","tracks":[{}]}}"#, tracks.join(","))
}

/// A track of these notes, `fields` being the others that it has.
fn instrument(id: &str, fields: &str, notes: &str) -> String {
    format!(
        r#"{{"id":"{id}","kind":"instrument",{fields}"items":[{{"type":"midi","id":"{id}","start_tick":0,
        "length_ticks":9600,"notes":[{notes}]}}]}}"#
    )
}

/// Buses with delays; the first delay of each of the first `automated` ones has as many points of
/// automation as it may.
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

/// Most points of one line of automation.
const POINTS_MAX: usize = 100_000;

/// A valid project that needs `memory_bytes` beside its SoundFonts: as many notes of a silent one
/// as it says, lines of automation, and for the rest delays, through which a sound goes.
fn valid_project(soundfont_id: &str, notes: usize, lines: usize, memory_bytes: u64) -> String {
    // A delay at 48 kHz with its share of a track; a note with its end, and a point; the rest.
    const DELAY_BYTES: u64 = 2_135_000;
    const EVENT_BYTES: u64 = 100;
    const OTHER_BYTES: u64 = 6_000_000;
    const DELAYS: usize = 4;
    let spent_bytes = OTHER_BYTES + EVENT_BYTES * (notes + lines * POINTS_MAX) as u64;
    let delays = memory_bytes.saturating_sub(spent_bytes) / DELAY_BYTES;
    let buses = buses(delays as usize / DELAYS, DELAYS, lines);
    let sends: Value = (0..buses.len()).map(|bus| json!({"to": format!("b{bus}")})).collect();
    let engine =
        |id| format!(r#""synth_engine":{{"type":"soundfont","soundfont_id":"{id}","bank":0,"program":0}},"#);
    let note = |ticks| format!(r#"{{"tick":0,"length_ticks":{ticks},"pitch":60,"velocity":1}}"#);
    let silent = instrument("bass", &engine(soundfont_id), &vec![note(240); notes].join(","));
    let audible = instrument("lead", &format!(r#"{}"sends":{sends},"#, engine("audible")), &note(9_600));
    project(&[vec![silent, audible], buses].concat())
}

/// The worst valid project: it needs as much as one user's renders may, and a SoundFont as large as
/// is accepted. Its instrument's id is the one in the examples of the service.
pub(super) fn worst_project() -> String {
    valid_project("long", 360_000, 4, budget::DEFAULT_BYTES / 5 * 4)
}

/// A project that needs what the renders of one user leave to others, and so does its SoundFont.
pub(super) fn small_project() -> String {
    valid_project("medium", 1, 0, budget::DEFAULT_BYTES / 5)
}

/// A bundle with this project and manifest, and with entries that are empty.
fn bundle(manifest: &str, project: &str, empty_entries: usize) -> anyhow::Result<Body> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in [("bundle.json", manifest), ("project.json", project)] {
        zip.start_file(name, options)?;
        zip.write_all(text.as_bytes())?;
    }
    for number in 0..empty_entries {
        zip.start_file(format!("audio/{number}"), options)?;
    }
    Ok(Body { media_type: "application/zip", bytes: zip.finish().context("an archive")?.into_inner() })
}

/// The list of what is in a bundle, which names audio that is missing.
fn manifest(missing: usize) -> String {
    json!({
        "format": "songfoundry-bundle", "version": 1, "project_id": "song", "name": "Song",
        "audio": [], "missing": vec!["x"; missing],
    })
    .to_string()
}

/// A short sound to upload.
pub(super) fn sound() -> Body {
    Body::form("short.ogg", &silent(48_000, &[]))
}

/// A project as what is to be rendered.
fn rendered(project: &str) -> Body {
    Body::json(format!(r#"{{"project":{project},"tail_secs":0.1}}"#))
}

/// The worst bodies that no schema gives away, and the worst answers of SoundFonts.
pub(super) fn worst() -> anyhow::Result<Vec<Worst>> {
    const MIB: usize = 1 << 20;
    let empty_notes = project(&[instrument("t", "", &vec!["{}"; 11_000_000].join(","))]);
    let form = Body::form;
    let file = |media_type| Body { media_type, bytes: vec![0; 32 * MIB] };
    let render = "/plugins/render";
    Ok(vec![
        Worst::post("Project of 32 MB of empty notes", "/projects", Body::json(empty_notes.clone())),
        Worst::post("The same to be rendered", render, rendered(&empty_notes)),
        Worst::post("The same in a small bundle", "/projects/import", bundle(&manifest(0), &empty_notes, 0)?),
        Worst::post(
            "Bundle of the worst valid project",
            "/projects/import",
            bundle(&manifest(0), &worst_project(), 0)?,
        ),
        Worst::post(
            "Bundle of 20,000 entries and a manifest of 4 MiB",
            "/projects/import",
            bundle(&manifest(MIB - 100), &project(&[]), 19_990)?,
        ),
        Worst::post(
            "Bundle of 100,000 entries",
            "/projects/import",
            bundle(&manifest(0), &project(&[]), 100_000)?,
        ),
        Worst::post("Project of 6,400 delays, rendered", render, rendered(&project(&buses(400, 16, 0)))),
        Worst::post(
            "Valid project of 1,000 delays (2,000 MiB), rendered",
            render,
            rendered(&project(&buses(20, 50, 0))),
        ),
        Worst::post(
            "Upload of 15 minutes of silence in 90 KB",
            "/audio/upload",
            form("a.ogg", &silent(44_000_000, &[])),
        ),
        Worst::post(
            "Reference of 15 minutes of silence in 90 KB",
            "/audio/reference",
            form("a.ogg", &silent(44_000_000, &[])),
        ),
        Worst {
            method: "PATCH",
            ..Worst::post(
                "Part of 32 MiB of an upload",
                "/audio/uploads/{id}",
                file("application/offset+octet-stream"),
            )
        },
        Worst {
            query: "?name=zeros.bin",
            ..Worst::post("File of 32 MiB", "/files/save", file("application/octet-stream"))
        },
        Worst::post(
            "Upload of a bank of 60,000 presets, and zones with lists",
            "/plugins/soundfonts/upload",
            form("zones.sf2", &tables_only()),
        ),
        Worst::get("Catalogue with such banks", "/plugins/soundfonts/catalog"),
        Worst {
            query: "?presets=0:0",
            ..Worst::get("Bank of 352 MiB reduced", "/plugins/soundfonts/download/long")
        },
        Worst {
            query: "?presets=0:0",
            ..Worst::get("Bank of 128 MiB reduced", "/plugins/soundfonts/download/shared")
        },
        Worst::post(
            "MIDI file of 16 MB of notes",
            "/multitrack/midi/import",
            Body { media_type: "audio/midi", bytes: midi(16_000_000) },
        ),
        Worst::post(
            "MIDI file of 360,000 notes",
            "/multitrack/midi/import",
            Body { media_type: "audio/midi", bytes: midi(360_000 * 6) },
        ),
    ])
}

/// A MIDI file of one track of notes.
fn midi(bytes: usize) -> Vec<u8> {
    let mut track = vec![0, 0x90, 60, 100];
    while track.len() + 8 < bytes {
        // By running status: a note ends, and another begins.
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
    fn projects_are_valid_and_need_what_renders_may_have() {
        for (notes, lines, limit_bytes) in [(9_000, 1, 300_000_000), (1, 0, budget::DEFAULT_BYTES / 5)] {
            let song = valid_project("long", notes, lines, limit_bytes);
            let document = JsonText::read(song.as_bytes()).expect("JSON").with_text("project_id", "song");
            assert_eq!(validate(&document), Ok(()));
            let project = schemas::read::project(&document).expect("a project");
            let session = schemas::session::build(&project, 48_000, |_| Some(0)).expect("a session");
            let need = session.memory_need(Slots { banks: &[], audio: &[] }).expect("routes");
            let share = need.bytes() as f64 / limit_bytes as f64;
            assert!((0.9..=1.0).contains(&share), "{share}: {:?}", need.components());
        }
    }
}
