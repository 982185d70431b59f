//! What the service acknowledged, and whether it is there.

use std::fmt;

use serde_json::{Value, json};

use crate::support::Service;

/// A song that is saved again and again.
#[derive(Debug, Clone)]
pub(crate) struct Song {
    /// Its project's id.
    pub(crate) id: String,
    /// The last acknowledged revision; 0 before the first.
    pub(crate) revision: i64,
    /// The name in it.
    pub(crate) name: String,
    /// The name of a save that was under way when the service ended: it may be there or not.
    pub(crate) in_flight: Option<String>,
}

/// An uploaded sound.
#[derive(Debug, Clone)]
pub(crate) struct Sound {
    /// Its id.
    pub(crate) id: String,
    /// What it was made from.
    pub(crate) number: usize,
}

/// An upload in parts that has begun.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// Where it is.
    pub(crate) path: String,
    /// What is uploaded.
    pub(crate) number: usize,
    /// Acknowledged bytes.
    pub(crate) offset_bytes: usize,
}

/// Everything that was acknowledged.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) songs: Vec<Song>,
    pub(crate) sounds: Vec<Sound>,
    /// The upload in parts that was under way when the service ended.
    pub(crate) begun: Option<Begun>,
    /// How often an upload in parts went on after the service had ended.
    pub(crate) resumed: usize,
    pub(crate) saves: usize,
    /// Sounds that were looked at since they were uploaded.
    checked: usize,
    /// Saves that were under way and made it to the disk.
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

/// A mono WAV file of 8 bits that no other number makes, and all of whose bytes are ASCII.
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

/// Bytes in a part of an upload, the last of which is shorter.
pub(crate) const PART_BYTES: usize = 700;

impl Ledger {
    /// Checks all songs, and what was uploaded since the last check.
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

    /// Checks everything that was ever acknowledged.
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

/// Whether the save that was under way is there. In any case the song is what is there from now on.
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

/// No acknowledged byte is lost; the part that was under way may be there, or some of it. The
/// upload goes on from what is there.
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
