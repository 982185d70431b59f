//! Records what the service acknowledged, and checks that it is stored.

use std::fmt;

use serde_json::{Value, json};

use crate::support::Service;

/// A song that is saved repeatedly.
#[derive(Debug, Clone)]
pub(crate) struct Song {
    /// Its project's id.
    pub(crate) id: String,
    /// The last acknowledged revision; 0 before the first.
    pub(crate) revision: i64,
    /// The name in that revision.
    pub(crate) name: String,
    /// The name of a save in flight when the service ended, which may or may not be stored.
    pub(crate) in_flight: Option<String>,
}

/// An uploaded audio file.
#[derive(Debug, Clone)]
pub(crate) struct Sound {
    /// Its id.
    pub(crate) id: String,
    /// Number that its content is generated from.
    pub(crate) number: usize,
}

/// A resumable upload in progress.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// Its path.
    pub(crate) path: String,
    /// Number that its content is generated from.
    pub(crate) number: usize,
    /// Acknowledged bytes.
    pub(crate) offset_bytes: usize,
}

/// All acknowledged data.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) songs: Vec<Song>,
    pub(crate) sounds: Vec<Sound>,
    /// The resumable upload in progress when the service ended.
    pub(crate) begun: Option<Begun>,
    /// Number of resumable uploads that continued after the service had ended.
    pub(crate) resumed: usize,
    pub(crate) saves: usize,
    /// Number of recordings that were checked.
    checked: usize,
    /// Number of saves in flight that were stored.
    made_it: usize,
}

impl Default for Ledger {
    fn default() -> Self {
        let song =
            |number| Song { id: format!("song-{number}"), revision: 0, name: String::new(), in_flight: None };
        Self {
            songs: (0..2).map(song).collect(),
            sounds: Vec::new(),
            begun: None,
            resumed: 0,
            saves: 0,
            checked: 0,
            made_it: 0,
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { saves, sounds, made_it, resumed, .. } = self;
        let sounds = sounds.len();
        write!(
            f,
            "{saves} acknowledged saves and {sounds} acknowledged uploads are there and whole; \
             {made_it} saves that were under way are, too; uploads in parts went on {resumed} times"
        )
    }
}

/// A document large enough that a save spans many pages of the database.
pub(crate) fn document(id: &str, name: &str) -> Value {
    json!({ "schema_version": 1, "project_id": id, "name": name, "tracks": [], "client": name.repeat(3000) })
}

/// A mono 8-bit WAV file that is unique for its number and consists of ASCII bytes.
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

/// Bytes of a part of an upload; the last part is shorter.
pub(crate) const PART_BYTES: usize = 700;

impl Ledger {
    /// Checks all songs, and uploads since the last check.
    pub(crate) fn check_newest(&mut self, service: &Service) {
        for song in &mut self.songs {
            self.made_it += usize::from(check_song(service, song));
        }
        for sound in &self.sounds[self.checked..] {
            check_sound(service, sound);
        }
        self.checked = self.sounds.len();
        if let Some(begun) = &mut self.begun {
            self.resumed += 1;
            check_begun(service, begun);
        }
    }

    /// Checks all data that was ever acknowledged.
    pub(crate) fn check_all(&mut self, service: &Service) {
        self.checked = 0;
        self.check_newest(service);
        assert!(self.has_acknowledged(), "nothing was acknowledged: {self:?}");
    }

    /// Whether a save and an upload were acknowledged.
    pub(crate) fn has_acknowledged(&self) -> bool {
        self.saves > 0 && !self.sounds.is_empty()
    }
}

/// Whether the save in flight was stored. The stored song is the reference from now on.
fn check_song(service: &Service, song: &mut Song) -> bool {
    let path = format!("/api/v1/projects/{}", song.id);
    let there = service.call("GET", &path, &[], "").expect("an answer");
    if there.status == 404 {
        assert_eq!(song.revision, 0, "{} is lost", song.id);
        song.in_flight = None;
        return false;
    }
    let found: Value = serde_json::from_str(&there.body).expect("a whole document");
    let revisions = service.expect(200, "GET", &format!("{path}/revisions"), &[], &Value::Null);
    let current = revisions["items"][0]["revision"].as_i64().expect("a revision");
    let in_flight = song.in_flight.take();
    let made_it = current != song.revision;
    if made_it {
        assert_eq!(current, song.revision + 1, "{}: an acknowledged save is lost", song.id);
        song.revision = current;
        song.name = in_flight.expect("nobody else saves");
    }
    assert!(found == document(&song.id, &song.name), "{} is not as it was saved as `{}`", song.id, song.name);
    made_it
}

/// No acknowledged byte is lost; the part in flight may be stored completely, partly or not. The
/// upload continues from the stored offset.
fn check_begun(service: &Service, begun: &mut Begun) {
    let about = service.expect(200, "GET", &begun.path, &[], &Value::Null);
    let found = about["offset_bytes"].as_u64().expect("an offset") as usize;
    let possible = begun.offset_bytes..=begun.offset_bytes + PART_BYTES;
    assert!(possible.contains(&found), "{about} after {} acknowledged bytes", begun.offset_bytes);
    begun.offset_bytes = found;
}

fn check_sound(service: &Service, sound: &Sound) {
    let path = format!("/api/v1/audio/{}", sound.id);
    let about = service.expect(200, "GET", &path, &[], &Value::Null);
    assert_eq!(about["frames"], 0x1000, "{about}");
    let file = service.call("GET", &format!("{path}/file"), &[], "").expect("an answer");
    assert!(file.status == 200 && file.body == wav(sound.number), "sound {} is not whole", sound.number);
    let samples = service.call("GET", &format!("{path}/file?format=wav32f"), &[], "").expect("an answer");
    assert_eq!(samples.status, 200, "the samples of sound {}: {}", sound.number, samples.body);
    let peaks = service.expect(200, "GET", &format!("{path}/peaks?format=json&bits=8"), &[], &Value::Null);
    assert_eq!(peaks["length"], 0x1000 / 256, "{peaks}");
}
