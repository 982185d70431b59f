//! The worst projects, banks, bundles and sounds for their size.

use std::io::{Cursor, Write as _};

use anyhow::Context as _;
use serde_json::{Value, json};
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
    fn json(value: &Value) -> Self {
        Self { media_type: "application/json", bytes: value.to_string().into_bytes() }
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
    pub(super) path: &'static str,
    pub(super) body: Body,
}

/// A bank of tables: zones without number, each with a list of modulators of its own.
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
        ("long.sf3", sf3(&vec![silent(1 << 24, &[]); 11], 1)),
        ("toolong.sf3", sf3(&vec![long; 8], 1)),
        ("codebooks.sf3", sf3(&vec![silent(4_096, &[19, 18, 17]); 40], 1)),
        ("tables.sf2", tables_only()),
    ]
}

/// Notes for a bank.
pub(super) fn notes(bank: &str) -> Worst {
    let name: &'static str = match bank {
        "shared" => "Bank of 167 KB: one stream of 128 MiB, in 8 headers",
        "shared1" => "Another such bank",
        "shared2" => "A third such bank",
        "shared3" => "A fourth such bank",
        "long" => "Bank of 460 KB: 352 MiB of silence",
        "toolong" => "Bank of 1.3 MB: 1 GiB of silence",
        "codebooks" => "Bank of 12 KB: codebooks that take long to build",
        _ => "Bank of 1 MB: 60,000 zones with lists of their own",
    };
    let body = json!({
        "soundfont_id": bank, "tail_secs": 0.1,
        "notes": [{"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1}],
    });
    Worst { name, path: "/plugins/soundfont-render", body: Body::json(&body) }
}

/// A project of `count` notes, all of them empty or all of them right.
fn notes_project(count: usize, note: &Value) -> Value {
    json!({
        "schema_version": 1, "project_id": "notes",
        "tracks": [{
            "id": "t", "kind": "instrument", "synth_engine": {"type": "soundfont", "bank": 0, "program": 0},
            "items": [{
                "type": "midi", "id": "i", "start_tick": 0, "length_ticks": 96_000, "notes": vec![note; count]
            }]
        }]
    })
}

/// A project of buses with delays.
fn buses(count: usize, delays: usize) -> Value {
    let delay =
        |number: usize| json!({"id": format!("e{number}"), "type": "builtin", "name": "delay", "params": {}});
    let effects: Vec<Value> = (0..delays).map(delay).collect();
    let bus = |number: usize| json!({"id": format!("b{number}"), "kind": "bus", "effects": effects});
    json!({"schema_version": 1, "project_id": "buses", "tracks": (0..count).map(bus).collect::<Vec<_>>()})
}

/// A bundle whose project is this.
fn bundle(project: &Value) -> anyhow::Result<Vec<u8>> {
    let manifest = json!({
        "format": "songfoundry-bundle", "version": 1, "project_id": "notes", "name": "Notes",
        "audio": [], "missing": [],
    });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in [("bundle.json", &manifest), ("project.json", project)] {
        zip.start_file(name, options)?;
        zip.write_all(text.to_string().as_bytes())?;
    }
    Ok(zip.finish().context("an archive")?.into_inner())
}

/// The worst bodies that no schema gives away.
pub(super) fn worst() -> anyhow::Result<Vec<Worst>> {
    let (empty, right) = (json!({}), json!({"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1}));
    // 3 bytes each with the comma, and as many as 32 MiB hold.
    let empty_notes = notes_project(11_000_000, &empty);
    let many_notes = notes_project(360_000, &right);
    let form = Body::form;
    Ok(vec![
        Worst { name: "Project of 32 MB of empty notes", path: "/projects", body: Body::json(&empty_notes) },
        Worst {
            name: "The same to be rendered",
            path: "/plugins/render",
            body: Body::json(&json!({"project": empty_notes})),
        },
        Worst {
            name: "The same in a small bundle",
            path: "/projects/import",
            body: Body { media_type: "application/zip", bytes: bundle(&empty_notes)? },
        },
        Worst {
            name: "Valid project of 360,000 notes, rendered",
            path: "/plugins/render",
            body: Body::json(&json!({"project": many_notes, "tail_secs": 0.1})),
        },
        Worst {
            name: "Project of 6,400 delays, rendered",
            path: "/plugins/render",
            body: Body::json(&json!({"project": buses(400, 16), "tail_secs": 0.1})),
        },
        Worst {
            name: "Valid project of 1,000 delays (2,000 MiB), rendered",
            path: "/plugins/render",
            body: Body::json(&json!({"project": buses(20, 50), "tail_secs": 0.1})),
        },
        Worst {
            name: "Valid project of 250 delays (500 MiB), rendered",
            path: "/plugins/render",
            body: Body::json(&json!({"project": buses(25, 10), "tail_secs": 0.1})),
        },
        Worst {
            name: "Upload of 15 minutes of silence in 90 KB",
            path: "/audio/upload",
            body: form("a.ogg", &silent(44_000_000, &[])),
        },
        Worst {
            name: "Reference of 15 minutes of silence in 90 KB",
            path: "/audio/reference",
            body: form("a.ogg", &silent(44_000_000, &[])),
        },
        Worst {
            name: "Upload of a bank of 60,000 zones",
            path: "/plugins/soundfonts/upload",
            body: form("zones.sf2", &tables_only()),
        },
        Worst {
            name: "MIDI file of 16 MB of notes",
            path: "/multitrack/midi/import",
            body: Body { media_type: "audio/midi", bytes: midi(16_000_000) },
        },
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
