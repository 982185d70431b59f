//! Records what the service acknowledged, and checks that it is stored.

use std::fmt;

use serde_json::{Value, json};

use crate::support::Service;

/// A song that is saved repeatedly.
#[derive(Debug, Clone)]
pub(crate) struct Song {
    /// Id of the project.
    pub(crate) id: String,
    /// The last acknowledged revision; 0 before the first.
    pub(crate) revision: i64,
    /// The name in that revision.
    pub(crate) name: String,
    /// The name of a save in flight when the service ended, which may or may not be stored.
    pub(crate) in_flight: Option<String>,
}

/// An uploaded recording.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// Id of the audio file.
    pub(crate) id: String,
    /// Number from which the content is generated.
    pub(crate) number: usize,
}

/// A resumable upload in progress.
#[derive(Debug, Clone)]
pub(crate) struct PartialUpload {
    /// URL path of the upload.
    pub(crate) path: String,
    /// Number from which the content is generated.
    pub(crate) number: usize,
    /// Number of bytes that the service acknowledged.
    pub(crate) offset_bytes: usize,
}

/// All acknowledged data.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) songs: Vec<Song>,
    pub(crate) recordings: Vec<Recording>,
    /// The resumable upload in progress when the service ended.
    pub(crate) partial_upload: Option<PartialUpload>,
    /// Number of resumable uploads that continued after the service had ended.
    pub(crate) resumed: usize,
    pub(crate) saves: usize,
    /// Number of recordings that were checked.
    checked_recordings: usize,
    /// Number of saves in flight that were stored.
    stored_in_flight: usize,
}

impl Default for Ledger {
    fn default() -> Self {
        let song =
            |number| Song { id: format!("song-{number}"), revision: 0, name: String::new(), in_flight: None };
        Self {
            songs: (0..2).map(song).collect(),
            recordings: Vec::new(),
            partial_upload: None,
            resumed: 0,
            saves: 0,
            checked_recordings: 0,
            stored_in_flight: 0,
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { saves, recordings, stored_in_flight, resumed, .. } = self;
        let recordings = recordings.len();
        write!(
            f,
            "all {saves} acknowledged saves and {recordings} acknowledged uploads are stored completely; \
             {stored_in_flight} unacknowledged saves are stored, too; resumable uploads continued {resumed} times"
        )
    }
}

/// Returns a document so large that a save spans many pages of the database.
pub(crate) fn document(id: &str, name: &str) -> Value {
    json!({ "schema_version": 1, "project_id": id, "name": name, "tracks": [], "client": name.repeat(3000) })
}

/// Returns a mono 8-bit WAV file that is unique for its number and consists of ASCII bytes.
pub(crate) fn wav(number: usize) -> String {
    const DATA_BYTES: usize = 0x1000;
    let word = |value: usize| String::from_utf8((value as u32).to_le_bytes().to_vec()).expect("ASCII");
    let header = format!(
        "RIFF{}WAVEfmt {}\u{1}\0\u{1}\0{rate}{rate}\u{1}\0\u{8}\0data{}",
        word(36 + DATA_BYTES),
        word(16),
        word(DATA_BYTES),
        rate = word(0x1f40),
    );
    let samples: String = format!("{number:07} ").chars().cycle().take(DATA_BYTES).collect();
    header + &samples
}

/// Size in bytes of a part of an upload; the last part is shorter.
pub(crate) const PART_BYTES: usize = 700;

impl Ledger {
    /// Checks all songs, and the uploads since the last check.
    pub(crate) fn check_newest(&mut self, service: &Service) {
        for song in &mut self.songs {
            self.stored_in_flight += usize::from(check_song(service, song));
        }
        for recording in &self.recordings[self.checked_recordings..] {
            check_recording(service, recording);
        }
        self.checked_recordings = self.recordings.len();
        if let Some(partial_upload) = &mut self.partial_upload {
            self.resumed += 1;
            check_partial_upload(service, partial_upload);
        }
    }

    /// Checks all data that was ever acknowledged.
    pub(crate) fn check_all(&mut self, service: &Service) {
        self.checked_recordings = 0;
        self.check_newest(service);
        assert!(self.has_acknowledged(), "nothing was acknowledged: {self:?}");
    }

    /// Whether a save and an upload were acknowledged.
    pub(crate) fn has_acknowledged(&self) -> bool {
        self.saves > 0 && !self.recordings.is_empty()
    }
}

/// Checks a song and returns whether its save in flight was stored. Later checks expect the song as
/// it is stored now.
fn check_song(service: &Service, song: &mut Song) -> bool {
    let path = format!("/api/v1/projects/{}", song.id);
    let answer = service.call("GET", &path, &[], "").expect("an answer");
    if answer.status == 404 {
        assert_eq!(song.revision, 0, "{} is lost", song.id);
        song.in_flight = None;
        return false;
    }
    let stored: Value = serde_json::from_str(&answer.body).expect("a whole document");
    let revisions = service.expect(200, "GET", &format!("{path}/revisions"), &[], &Value::Null);
    let current_revision = revisions["items"][0]["revision"].as_i64().expect("a revision");
    let in_flight = song.in_flight.take();
    let stored_in_flight = current_revision != song.revision;
    if stored_in_flight {
        assert_eq!(current_revision, song.revision + 1, "{}: an acknowledged save is lost", song.id);
        song.revision = current_revision;
        song.name = in_flight.expect("nobody else saves");
    }
    assert!(
        stored == document(&song.id, &song.name),
        "{} differs from the document that was saved as `{}`",
        song.id,
        song.name
    );
    stored_in_flight
}

/// Checks that no acknowledged byte is lost. The part in flight may be stored completely, partly or
/// not at all. The upload continues from the stored offset.
fn check_partial_upload(service: &Service, partial_upload: &mut PartialUpload) {
    let metadata = service.expect(200, "GET", &partial_upload.path, &[], &Value::Null);
    let stored = metadata["offset_bytes"].as_u64().expect("an offset") as usize;
    let possible = partial_upload.offset_bytes..=partial_upload.offset_bytes + PART_BYTES;
    assert!(
        possible.contains(&stored),
        "{metadata} after {} acknowledged bytes",
        partial_upload.offset_bytes
    );
    partial_upload.offset_bytes = stored;
}

fn check_recording(service: &Service, recording: &Recording) {
    let path = format!("/api/v1/audio/{}", recording.id);
    let metadata = service.expect(200, "GET", &path, &[], &Value::Null);
    assert_eq!(metadata["frames"], 0x1000, "{metadata}");
    let file = service.call("GET", &format!("{path}/file"), &[], "").expect("an answer");
    assert!(
        file.status == 200 && file.body == wav(recording.number),
        "recording {} is incomplete",
        recording.number
    );
    let samples = service.call("GET", &format!("{path}/file?format=wav32f"), &[], "").expect("an answer");
    assert_eq!(samples.status, 200, "the samples of recording {}: {}", recording.number, samples.body);
    let peaks = service.expect(200, "GET", &format!("{path}/peaks?format=json&bits=8"), &[], &Value::Null);
    assert_eq!(peaks["length"], 0x1000 / 256, "{peaks}");
}
