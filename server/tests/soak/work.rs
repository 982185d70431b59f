//! Songs being saved and sounds uploaded until the service ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ledger::{Ledger, Song, Sound, document, wav};
use crate::support::Service;

/// Threads that upload.
const UPLOADERS: usize = 2;

/// How long the first acknowledgement may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Works on `service` and kills it `after` the round's first acknowledgements.
pub(crate) fn until_ended(service: &Service, ledger: &mut Ledger, round: usize, after: Duration) {
    let acknowledged = AtomicUsize::new(0);
    thread::scope(|scope| {
        let count = &acknowledged;
        let songs = ledger.songs.iter_mut();
        let savers: Vec<_> =
            songs.map(|song| scope.spawn(move || save(service, song, round, count))).collect();
        let uploaders: Vec<_> = (0..UPLOADERS)
            .map(|one| scope.spawn(move || upload(service, round * UPLOADERS + one, count)))
            .collect();
        let begun = Instant::now();
        while acknowledged.load(Ordering::Relaxed) <= round % 5 {
            assert!(begun.elapsed() < PATIENCE, "round {round}: nothing is acknowledged");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(after);
        service.signal_kill();
        for saver in savers {
            ledger.saves += saver.join().expect("saves");
        }
        for uploader in uploaders {
            ledger.sounds.extend(uploader.join().expect("uploads"));
        }
    });
}

/// Saves until the service is gone. Says how many saves were acknowledged.
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
    unreachable!("no service lasts so long")
}

/// Uploads until the service is gone. Says what was acknowledged.
fn upload(service: &Service, uploader: usize, count: &AtomicUsize) -> Vec<Sound> {
    let mut sounds = Vec::new();
    loop {
        // Up to a thousand in a round.
        let number = uploader * 1_000 + sounds.len();
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{number}.wav\"\r\n\r\n{}\r\n--b--\r\n",
            wav(number)
        );
        let kind = [("Content-Type", "multipart/form-data; boundary=b")];
        let Some(answer) = service.call("POST", "/api/v1/audio/upload", &kind, &body) else { return sounds };
        assert_eq!(answer.status, 201, "an upload was refused: {}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
        let id = answer["files"][0]["id"].as_str().expect("an id").to_owned();
        sounds.push(Sound { id, number });
        count.fetch_add(1, Ordering::Relaxed);
    }
}
