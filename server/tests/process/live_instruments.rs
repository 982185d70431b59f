//! Instruments that the notes of a client play in real time: Nekobi, Kars and amsynth of Debian
//! packages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use songfoundry_bridge_protocol::host::{Event, EventKind, Process};

use crate::live_plugins::{
    Client, FRAMES, LONG_BLOCK_LIMIT, RATE_HZ, kill_plugin, open_plugin, peak, plugin_hosts, signal,
};
use crate::plugin_service::{PluginService, holds_within};

/// Names of the instruments, and their modules.
const INSTRUMENTS: [(&str, &str); 3] = [
    ("Nekobi", "/usr/lib/vst/Nekobi-vst.so"),
    ("Kars", "/usr/lib/vst/Kars-vst.so"),
    ("amsynth", "/usr/lib/vst/amsynth_vst.so"),
];

/// Level below which an instrument is silent: -80 dBFS.
const SILENT: f32 = 1e-4;

/// Starts a service whose plugin folder contains the instruments.
fn start(settings: &[(&str, &str)]) -> PluginService {
    PluginService::start_with(settings, |service| {
        for (_, module) in INSTRUMENTS {
            let module = Path::new(module);
            assert!(module.exists(), "{} is missing: install dpf-plugins-vst and amsynth", module.display());
            let name = module.file_name().expect("a name");
            std::fs::copy(module, service.folder.path().join("plugins").join(name)).expect("copies");
        }
    })
}

/// Opens a stream with one instrument, `keys`, at frame 0.
fn play_instrument(service: &PluginService, name: &str) -> Client {
    let mut client = Client::open(service);
    client.command(&chain(service, name));
    client.wait_for(&["plugin_ready"]);
    client.flush();
    client
}

fn chain(service: &PluginService, name: &str) -> Value {
    let plugin = json!({ "id": "keys", "type": "vst2", "plugin_id": service.id_of(name) });
    json!({ "cmd": "chain", "sample_rate": RATE_HZ, "effects": [plugin] })
}

/// Sends MIDI messages with offsets from the start of the next block. Returns the answer.
fn midi(client: &mut Client, events: &[(usize, [u8; 3])]) -> Value {
    let events = events.iter().map(|(frame, bytes)| json!({ "frame": frame, "bytes": bytes }));
    client.command(&json!({ "cmd": "midi", "events": events.collect::<Vec<_>>() }));
    client.wait_for(&["midi_queued", "error"])
}

/// Returns the sound of the last blocks: the output without the signal that the client sent.
fn sound(client: &Client, blocks: usize) -> Vec<f32> {
    let end = client.output[0].len();
    let start = end - blocks * FRAMES;
    let sent = (start..end).step_by(FRAMES).flat_map(|start| signal(start)[0].clone());
    client.output[0][start..].iter().zip(sent).map(|(output, sent)| output - sent).collect()
}

fn play_blocks(client: &mut Client, blocks: usize) {
    (0..blocks).for_each(|_| _ = client.block());
}

/// Plays a note until it sounds, without its end.
fn hold_note(client: &mut Client) {
    let answer = midi(client, &[(0, [0x90, 48, 100])]);
    assert_eq!(answer["cmd"], "midi_queued", "{answer}");
    play_blocks(client, 20);
    let level = peak(&sound(client, 10));
    assert!(level > 0.01, "the note sounds: {level}");
}

/// Asserts that no note sounds after a release of a few seconds.
fn assert_released(client: &mut Client, case: &str) {
    let seconds = RATE_HZ as usize / FRAMES;
    let is_silent = (0..8).any(|_| {
        play_blocks(client, seconds);
        peak(&sound(client, 20)) < SILENT
    });
    assert!(is_silent, "{case}: {}", peak(&sound(client, 20)));
}

/// Key, velocity, and first and last frame of the notes of a song. Most frames are within blocks.
const NOTES: [(u8, u8, usize, usize); 4] =
    [(48, 100, 0, 9_600), (60, 64, 4_805, 14_410), (55, 127, 12_000, 24_000), (67, 30, 24_000, 28_845)];

/// Number of blocks that the notes need.
const BLOCKS: usize = 130;

#[test]
fn notes_over_the_socket_sound_like_their_render() {
    let service = start(LONG_BLOCK_LIMIT);
    for (name, module) in INSTRUMENTS {
        let expected = reference(module, &service.id_of(name));
        assert!(peak(&expected) > 0.05, "{name} plays");
        // amsynth depends on the size of the blocks, which is twice as large in files.
        if name != "amsynth" {
            let file = rendered(&service, name);
            assert_equal(&expected, &file, name);
        }
        let mut client = play_instrument(&service, name);
        let mut latency = None;
        for start in (0..BLOCKS * FRAMES).step_by(FRAMES) {
            let events: Vec<_> = messages()
                .into_iter()
                .filter(|(frame, _)| (start..start + FRAMES).contains(frame))
                .map(|(frame, bytes)| (frame - start, bytes))
                .collect();
            if let Some((last, _)) = events.last() {
                let answer = midi(&mut client, &events);
                assert_eq!((&answer["effect"], &answer["waiting"]), (&json!("keys"), &json!(events.len())));
                assert_eq!(answer["queue_frames"], *last, "{answer}");
                latency = answer["latency"].as_u64();
            }
            client.block();
        }
        // The latency is that of the messages.
        client.command(&json!({ "cmd": "REPORT_LATENCY" }));
        assert_eq!(client.wait_for(&["latency"])["total"].as_u64(), latency);
        let latency = latency.expect("a note was played") as usize;
        assert_equal(&sound(&client, BLOCKS)[latency..], &expected, name);
        assert_eq!(client.plugin_stats()["late_blocks"], 0);
    }
}

/// Asserts that two signals are equal as far as both reach.
fn assert_equal(signal: &[f32], expected: &[f32], case: &str) {
    let differences = signal.iter().zip(expected).map(|(a, b)| (a - b).abs()).enumerate();
    let worst = differences.max_by(|(_, a), (_, b)| a.total_cmp(b)).expect("frames");
    assert!(worst.1 < 1e-5, "{case}: frame {} differs by {}", worst.0, worst.1);
}

/// Returns the MIDI messages of [`NOTES`], in the order of their frames.
fn messages() -> Vec<(usize, [u8; 3])> {
    let on = |(key, velocity, start, _): (u8, u8, usize, usize)| (start, [0x90, key, velocity]);
    let off = |(key, _, _, end): (u8, u8, usize, usize)| (end, [0x80, key, 0]);
    let mut messages: Vec<_> = NOTES.map(off).into_iter().chain(NOTES.map(on)).collect();
    messages.sort_by_key(|(frame, _)| *frame);
    messages
}

/// Returns the left channel of [`NOTES`] as the plugin plays them outside of a stream, in blocks of
/// the same size.
fn reference(module: &str, plugin_id: &str) -> Vec<f32> {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = plugin_hosts(folder.path());
    let mut host = open_plugin(&hosts, PathBuf::from(module), plugin_id);
    let event = |(frame, [status, key, velocity]): (usize, [u8; 3])| {
        let (note_id, channel, velocity) = (-1, 0, f32::from(velocity) / 127.0);
        let kind = match status {
            0x90 => EventKind::NoteOn { note_id, channel, key, velocity },
            _ => EventKind::NoteOff { note_id, channel, key, velocity },
        };
        Event { frame: frame as u32, kind }
    };
    let events = messages().into_iter().map(event).collect();
    let frames = (BLOCKS * FRAMES) as u32;
    // A stream sets the values of a plugin with a block of silence, during which oscillators go on.
    let silence = Process { frames: FRAMES as u32, output_channels: 2, ..Process::default() };
    host.process(silence, &[]).expect("processes");
    let process = Process { frames, output_channels: 2, events, ..Process::default() };
    host.process(process, &[]).expect("processes").channels.swap_remove(0)
}

/// Returns the left channel of [`NOTES`] as the service renders them.
fn rendered(service: &PluginService, name: &str) -> Vec<f32> {
    let seconds = |frames: usize| frames as f64 / f64::from(RATE_HZ);
    let notes = NOTES.map(|(key, velocity, start, end)| {
        json!({ "tick": seconds(start), "length_ticks": seconds(end - start), "pitch": key,
            "velocity": f64::from(velocity) / 127.0 })
    });
    let body = json!({ "plugin_id": service.id_of(name), "notes": notes, "time_base": "seconds",
        "sample_rate_hz": RATE_HZ, "tail_secs": 1 });
    let samples = float_samples(&render(service, &body.to_string()));
    samples.into_iter().step_by(2).collect()
}

/// Returns the file of `POST /plugins/midi-render`, whose answer comes in chunks (RFC 9112, section
/// 7.1).
fn render(service: &PluginService, body: &str) -> Vec<u8> {
    let address = service.service.address;
    let mut stream = TcpStream::connect(address).expect("connects");
    let head =
        format!("POST /api/v1/plugins/midi-render HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let length = body.len();
    let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).expect("sends");
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    let mut is_chunked = false;
    answer.read_line(&mut line).expect("a status");
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    while line != "\r\n" {
        is_chunked |= line.to_lowercase() == "transfer-encoding: chunked\r\n";
        line.clear();
        answer.read_line(&mut line).expect("a header");
    }
    let mut file = Vec::new();
    if !is_chunked {
        answer.read_to_end(&mut file).expect("a file");
        return file;
    }
    loop {
        line.clear();
        answer.read_line(&mut line).expect("a size");
        let size = usize::from_str_radix(line.trim_end(), 16).expect("a size");
        let start = file.len();
        file.resize(start + size + 2, 0);
        answer.read_exact(&mut file[start..]).expect("a chunk");
        file.truncate(start + size);
        if size == 0 {
            return file;
        }
    }
}

/// Returns the samples of a WAV file of 32-bit floats.
fn float_samples(file: &[u8]) -> Vec<f32> {
    let data = file.windows(4).position(|name| name == b"data").expect("a data chunk");
    file[data + 8..].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn no_note_hangs() {
    let service = start(LONG_BLOCK_LIMIT);
    let mut client = play_instrument(&service, "Nekobi");
    hold_note(&mut client);
    // The signal of the client continues at frame 0, and the instrument is silent at once.
    client.flush();
    play_blocks(&mut client, 20);
    assert!(peak(&sound(&client, 20)) < SILENT, "flush: {}", peak(&sound(&client, 20)));

    hold_note(&mut client);
    client.command(&chain(&service, "Nekobi"));
    client.wait_for(&["latency"]);
    assert_released(&mut client, "a chain with the same instrument");

    // Too many events for later blocks end the note that sounds.
    client.flush();
    hold_note(&mut client);
    let later = vec![(60_000, [0x90, 60, 100]); 256];
    let answers: Vec<_> = (0..5).map(|_| midi(&mut client, &later)).collect();
    assert_eq!((&answers[3]["cmd"], &answers[3]["waiting"]), (&json!("midi_queued"), &json!(1_024)));
    let detail = answers[4]["detail"].as_str().expect("text");
    assert!(answers[4]["code"] == "too_many_events" && detail.contains("at most 1024"), "{}", answers[4]);
    assert_released(&mut client, "a full queue");

    client.flush();
    hold_note(&mut client);
    kill_plugin(&service);
    // The wait for a block ends when the process closes its socket.
    assert_eq!(client.blocks_until(&["plugin_failed"])["restarting"], true);
    // Without `effect`, a plugin that is being started again is none.
    let answer = midi(&mut client, &[(0, [0x80, 48, 0])]);
    assert!(answer["code"] == "no_instrument" || answer["cmd"] == "midi_queued", "{answer}");
    client.blocks_until(&["plugin_ready"]);
    play_blocks(&mut client, 40);
    assert!(peak(&sound(&client, 20)) < SILENT, "a restart");
    // The new process plays.
    hold_note(&mut client);
    drop(client);
    assert!(holds_within(Duration::from_secs(30), || service.processes() == 0), "the process ends");
}

#[test]
fn refused_midi_names_the_bytes_and_the_limit() {
    let service = start(LONG_BLOCK_LIMIT);
    let mut client = Client::open(&service);
    let refused = midi(&mut client, &[(0, [0x90, 48, 100])]);
    assert_eq!(refused["code"], "no_instrument", "{refused}");
    let gain = json!({ "id": "gain", "name": "utility" });
    let mut chain = chain(&service, "Nekobi");
    chain["effects"].as_array_mut().expect("a list").push(gain);
    client.command(&chain);
    client.wait_for(&["plugin_ready"]);
    for (message, code, detail) in [
        (json!({ "events": [{ "bytes": [0x90, 48] }] }), "invalid_midi", "`90 30`: 2 data bytes"),
        (json!({ "events": [{ "bytes": [0x90, 48, 200] }] }), "invalid_midi", "from 00 to 7F"),
        (json!({ "events": [{ "bytes": [0x90, 48, 256] }] }), "invalid_command", "256"),
        (json!({ "events": [{ "bytes": [0xF0, 0xF7] }] }), "invalid_midi", "system messages"),
        (json!({ "events": [{ "bytes": [0x90, 48, 1], "frame": 70_000 }] }), "invalid_midi", "65535"),
        (json!({ "events": vec![json!({ "bytes": [0x90, 48, 1] }); 257] }), "too_many_events", "at most 256"),
        (json!({ "effect": "gain", "events": [] }), "no_notes", "no plugin"),
        (json!({ "effect": "x", "events": [] }), "unknown_effect", "`x`"),
        (json!({}), "invalid_command", "events"),
    ] {
        let mut command = message.clone();
        command["cmd"] = json!("midi");
        client.command(&command);
        let refused = client.wait_for(&["error", "midi_queued"]);
        let text = refused["detail"].as_str().unwrap_or_default();
        assert!(refused["code"] == code && text.contains(detail), "{message}: {refused}");
    }
    // The stream continues, and the instrument plays.
    client.flush();
    hold_note(&mut client);
}
