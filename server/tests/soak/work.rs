//! Saves songs and uploads recordings until the service ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ledger::{Ledger, PART_BYTES, PartialUpload, Recording, Song, document, wav};
use crate::support::Service;

/// Number of threads that upload.
const UPLOADERS: usize = 2;

/// First number of recordings for resumable uploads, above the numbers of all other recordings.
const FIRST_RESUMABLE_NUMBER: usize = 5_000_000;

/// Maximum time until the first acknowledgements, and until an upload is decoded.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Saves and uploads until it kills `service`, `kill_delay` after the first acknowledgements of the
/// round.
pub(crate) fn work_until_kill(service: &Service, ledger: &mut Ledger, round: usize, kill_delay: Duration) {
    let acknowledged_bytes = AtomicUsize::new(0);
    thread::scope(|scope| {
        let count = &acknowledged_bytes;
        let songs = ledger.songs.iter_mut();
        let savers: Vec<_> =
            songs.map(|song| scope.spawn(move || save(service, song, round, count))).collect();
        let uploaders: Vec<_> = (0..UPLOADERS)
            .map(|index| scope.spawn(move || upload(service, round * UPLOADERS + index, count)))
            .collect();
        let partial_upload = ledger.partial_upload.take();
        let in_parts = scope.spawn(move || {
            upload_in_parts(service, partial_upload, FIRST_RESUMABLE_NUMBER + round * 1_000, count)
        });
        let started = Instant::now();
        while acknowledged_bytes.load(Ordering::Relaxed) <= round % 5 {
            assert!(started.elapsed() < MAX_WAIT, "round {round}: the service acknowledges nothing");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(kill_delay);
        service.signal_kill();
        for saver in savers {
            ledger.saves += saver.join().expect("saves");
        }
        for uploader in uploaders {
            ledger.recordings.extend(uploader.join().expect("uploads"));
        }
        let (partial_upload, recordings) = in_parts.join().expect("uploads in parts");
        ledger.partial_upload = partial_upload;
        ledger.recordings.extend(recordings);
    });
}

/// Saves until the service is gone; returns the number of acknowledged saves.
fn save(service: &Service, song: &mut Song, round: usize, count: &AtomicUsize) -> usize {
    for saves in 0.. {
        let name = format!("{} in round {round}, after {}", song.id, song.revision);
        let (path, tag) = (format!("/api/v1/projects/{}", song.id), format!("\"{}\"", song.revision));
        let body = document(&song.id, &name).to_string();
        let answer = match song.revision {
            0 => service.call("POST", "/api/v1/projects", &[], &body),
            _ => service.call("PUT", &path, &[("If-Match", &tag)], &body),
        };
        let Some(answer) = answer else {
            song.in_flight = Some(name);
            return saves;
        };
        assert!(matches!(answer.status, 200 | 201), "a save was refused: {answer:?}");
        let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
        song.revision = answer["revision"].as_i64().expect("a revision");
        song.name = name;
        count.fetch_add(1, Ordering::Relaxed);
    }
    unreachable!("the service is killed before the numbers end")
}

/// Uploads until the service is gone; returns the acknowledged recordings.
fn upload(service: &Service, uploader: usize, count: &AtomicUsize) -> Vec<Recording> {
    let mut recordings = Vec::new();
    loop {
        // Each uploader has a thousand numbers for a round.
        let number = uploader * 1_000 + recordings.len();
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{number}.wav\"\r\n\r\n{}\r\n--b--\r\n",
            wav(number)
        );
        let content_type = [("Content-Type", "multipart/form-data; boundary=b")];
        let Some(answer) = service.call("POST", "/api/v1/audio/upload", &content_type, &body) else {
            return recordings;
        };
        assert_eq!(answer.status, 201, "an upload was refused: {}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
        let id = answer["files"][0]["id"].as_str().expect("an id").to_owned();
        recordings.push(Recording { id, number });
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Uploads by the tus protocol until the service is gone, starting with the upload in progress.
/// Returns the upload in progress at the end, and the completed uploads.
fn upload_in_parts(
    service: &Service,
    mut partial_upload: Option<PartialUpload>,
    first_number: usize,
    count: &AtomicUsize,
) -> (Option<PartialUpload>, Vec<Recording>) {
    let mut recordings = Vec::new();
    for number in first_number.. {
        let Some(mut upload) = partial_upload.take().or_else(|| begin(service, number)) else {
            return (None, recordings);
        };
        while send_part(service, &mut upload) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        match wait_for_file(service, &upload) {
            Some(id) => recordings.push(Recording { id, number: upload.number }),
            None => return (Some(upload), recordings),
        }
    }
    unreachable!("the service is killed before the numbers end")
}

const TUS_VERSION_HEADER: (&str, &str) = ("Tus-Resumable", "1.0.0");

fn begin(service: &Service, number: usize) -> Option<PartialUpload> {
    let length = wav(number).len().to_string();
    let answer = service.call(
        "POST",
        "/api/v1/audio/uploads",
        &[TUS_VERSION_HEADER, ("Upload-Length", &length)],
        "",
    )?;
    assert_eq!(answer.status, 201, "an upload was refused: {}", answer.body);
    let mut lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    let location = lines.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    Some(PartialUpload { path: location.expect("a location").1.to_owned(), number, offset_bytes: 0 })
}

/// Sends the next part. Returns `false` if there is no further part or the service is gone.
fn send_part(service: &Service, upload: &mut PartialUpload) -> bool {
    let (whole_file, from) = (wav(upload.number), upload.offset_bytes);
    let part = &whole_file[from..whole_file.len().min(from + PART_BYTES)];
    if part.is_empty() {
        return false;
    }
    let offset = from.to_string();
    let headers = [
        TUS_VERSION_HEADER,
        ("Upload-Offset", offset.as_str()),
        ("Content-Type", "application/offset+octet-stream"),
    ];
    let Some(answer) = service.call("PATCH", &upload.path, &headers, part) else { return false };
    assert_eq!(answer.status, 204, "a part was refused: {}", answer.body);
    upload.offset_bytes += part.len();
    true
}

/// Waits for the id of the uploaded file. `None` if bytes are missing or the service has ended.
fn wait_for_file(service: &Service, upload: &PartialUpload) -> Option<String> {
    if upload.offset_bytes < wav(upload.number).len() {
        return None;
    }
    let start_time = Instant::now();
    loop {
        let answer = service.call("GET", &upload.path, &[], "")?;
        assert_eq!(answer.status, 200, "an upload is lost: {}", answer.body);
        let metadata: Value = serde_json::from_str(&answer.body).expect("JSON");
        if let Some(id) = metadata["audio_id"].as_str() {
            return Some(id.to_owned());
        }
        assert_ne!(metadata["state"], "refused", "{metadata}");
        assert!(start_time.elapsed() < MAX_WAIT, "the decoding does not end: {metadata}");
        thread::sleep(Duration::from_millis(2));
    }
}
