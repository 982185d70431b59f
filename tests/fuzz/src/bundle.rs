//! Bundles: an archive is refused, or yields its manifest and texts and recordings with plain
//! names, each within its size limit.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::{Component, Path};

use schemas::json::JsonText;
use schemas::session::files_used;
use schemas::upgrade::upgrade;
use schemas::validate::validate;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::choices::Choices;
use crate::{Seed, mutate, within};

#[path = "../../../server/src/bundles/archive.rs"]
mod archive;
#[path = "../../../server/src/bundles/audio_ids.rs"]
mod audio_ids;
#[path = "../../../server/src/bundles/manifest.rs"]
mod manifest;

use archive::{AUDIO_FOLDER, Archive, BundleError, MANIFEST, PROJECT};
use manifest::{FORMAT, VERSION};

/// Maximum bytes of a project and of a recording here.
const PROJECT_MAX_BYTES: u64 = 256 << 10;
const SOUND_MAX_BYTES: u64 = 1 << 20;

/// Maximum bytes that are read to open an archive and to find each entry: the archive's limit,
/// twice.
const OPENING_MAX_BYTES: u64 = 2 * 8 * 1024 * 1024;

/// Maximum memory of opening.
fn limit_bytes(file: &[u8]) -> usize {
    64 * file.len() + (1 << 20)
}

/// Panics if an archive is read incorrectly.
pub fn check(file: &[u8]) {
    let count = Cell::new(0);
    let reader = Counted { inner: Cursor::new(file), count: &count };
    let opened = within(limit_bytes(file), "opening an archive", || Archive::open(reader));
    assert!(count.get() <= OPENING_MAX_BYTES, "{} bytes were read to open it", count.get());
    let Some(mut archive) = accepted(opened) else { return };
    let project = accepted(archive.text(PROJECT, PROJECT_MAX_BYTES, "A project"));
    assert!(project.as_ref().is_none_or(|text| text.len() as u64 <= PROJECT_MAX_BYTES));
    let Some(manifest) = accepted(manifest::read(&mut archive)) else { return };
    let mut new_ids = HashMap::new();
    for (number, one) in manifest.audio.iter().enumerate() {
        let parts: Vec<Component<'_>> = Path::new(&one.path).components().collect();
        assert!(matches!(parts[..], [Component::Normal(_), Component::Normal(_)]), "{:?}", one.path);
        if let Some(entry) = accepted(archive.entry(&one.path)) {
            let mut sound = Vec::new();
            // Damage is found while it is read.
            let _ = entry.take(SOUND_MAX_BYTES).read_to_end(&mut sound);
        }
        new_ids.insert(one.server_file_id.clone(), format!("new-{number}"));
    }
    if let Some(document) = project.and_then(|text| JsonText::read(&text).ok()) {
        check_ids(&document, &new_ids);
    }
}

/// The content of a result. The disk cannot fail here.
fn accepted<T>(answer: Result<T, BundleError>) -> Option<T> {
    match answer {
        Ok(content) => Some(content),
        Err(BundleError::Io(error)) => panic!("reported as a disk error: {error}"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// A valid project stays valid with other audio ids, and contains them.
fn check_ids(document: &JsonText, new_ids: &HashMap<String, String>) {
    let replaced = audio_ids::replaced(document, new_ids);
    let Ok(document) = upgrade(document, "fuzz") else { return };
    if validate(&document).is_err() {
        return;
    }
    let replaced = upgrade(&replaced, "fuzz").expect("an object");
    assert_eq!(validate(&replaced), Ok(()), "a project with other ids");
    let files = |document: &JsonText| files_used(&schemas::read::project(document).expect("a project"));
    let mut expected: Vec<String> =
        files(&document).into_iter().map(|id| new_ids.get(&id).cloned().unwrap_or(id)).collect();
    let mut found = files(&replaced);
    (expected.sort_unstable(), found.sort_unstable());
    (expected.dedup(), found.dedup());
    assert_eq!(found, expected, "the files of a project with other ids");
}

/// Counts the bytes that are read.
struct Counted<'c, R> {
    inner: R,
    count: &'c Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.count.set(self.count.get() + bytes as u64);
        Ok(bytes)
    }
}

impl<R: Seek> Seek for Counted<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Maximum number of entries of an archive that is mutated.
const ENTRIES: usize = 100;

struct Entry {
    name: String,
    method: CompressionMethod,
    content: Vec<u8>,
}

fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let count = zip.len().min(ENTRIES);
    (0..count).map(|number| entry(&mut zip, number)).collect()
}

fn entry(zip: &mut ZipArchive<Cursor<&[u8]>>, number: usize) -> Option<Entry> {
    let entry = zip.by_index(number).ok()?;
    let (name, method) = (entry.name().ok()?.into_owned(), entry.compression());
    let mut content = Vec::new();
    entry.take(PROJECT_MAX_BYTES).read_to_end(&mut content).ok()?;
    Some(Entry { name, method, content })
}

/// An archive without duplicate names.
fn archive_of(entries: &[Entry]) -> Option<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { name, method, content } in entries {
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        if zip.start_file(name.as_str(), options.compression_method(*method)).is_ok() {
            zip.write_all(content).ok()?;
        }
    }
    Some(zip.finish().ok()?.into_inner())
}

/// Mutates the content, the name or the compression of an entry.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    const NAMES: [&str; 8] = [
        MANIFEST,
        PROJECT,
        "audio/a.wav",
        "audio/b.ogg",
        "audio/../c",
        "audio/",
        "/audio/d",
        "../bundle.json",
    ];
    // Headers and the directory are mutated as bytes.
    if choices.below(3) == 0 {
        return None;
    }
    let mut entries = entries(bytes)?;
    if entries.is_empty() {
        return None;
    }
    let index = choices.below(entries.len());
    let entry = &mut entries[index];
    match choices.below(8) {
        0 => (*choices.among(&NAMES)).clone_into(&mut entry.name),
        1 => {
            let is_stored = entry.method == CompressionMethod::Stored;
            entry.method = if is_stored { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        }
        2 => drop(entries.remove(index)),
        3 => {
            let copy =
                Entry { name: (*choices.among(&NAMES)).to_owned(), content: entry.content.clone(), ..*entry };
            entries.push(copy);
        }
        _ => match mutate::json::mutate(&entry.content, choices) {
            Some(content) => entry.content = content,
            None => mutate::any(&mut entry.content),
        },
    }
    archive_of(&entries)
}

/// Bundles with stored and deflated entries, with and without recordings.
pub fn seeds() -> Vec<Seed> {
    let (stored, deflated) = (CompressionMethod::Stored, CompressionMethod::Deflated);
    let item = |id: &str, file: &str| {
        json!({"type": "audio", "id": id, "start_tick": 0, "source": {"server_file_id": file}, "server_file_id": file,
               "audio_file_url": format!("/api/v1/audio/{file}/file")})
    };
    let project = json!({"schema_version": 1, "project_id": "song", "name": "Äther", "tracks": [
        {"id": "t", "kind": "audio", "items": [item("a", "f1"), item("b", "f2"), item("c", "gone")],
         "effects": [{"id": "e", "type": "builtin", "name": "convolution", "impulse": "f2"}]}]});
    let bare = json!({"schema_version": 1, "project_id": "bare", "tracks": []});
    let audio = |id: &str, path: &str| json!({"server_file_id": id, "path": path, "name": "Kick.wav", "sha256": "00", "size_bytes": 4});
    let manifest = |audio: serde_json::Value| {
        json!({"format": FORMAT, "version": VERSION, "project_id": "song", "name": "Äther", "audio": audio,
               "missing": ["gone"]})
    };
    let sounds = manifest(json!([audio("f1", "audio/a.wav"), audio("f2", "audio/b.ogg")]));
    let entry = |name: &str, method, content: Vec<u8>| Entry { name: name.to_owned(), method, content };
    let text = |value: &serde_json::Value| value.to_string().into_bytes();
    let bundle = |method| {
        let entries = [
            entry(MANIFEST, method, text(&sounds)),
            entry(PROJECT, method, text(&project)),
            entry("audio/a.wav", stored, b"RIFF".to_vec()),
            entry("audio/b.ogg", method, vec![0; 3_000]),
        ];
        archive_of(&entries).expect("an archive")
    };
    let silent =
        [entry(MANIFEST, deflated, text(&manifest(json!([])))), entry(PROJECT, deflated, text(&bare))];
    let silent = archive_of(&silent).expect("an archive");
    let mut twice = bundle(stored);
    // The second recording under the name of the first, in both headers.
    let names: Vec<usize> = (0..twice.len()).filter(|at| twice[*at..].starts_with(b"audio/b.ogg")).collect();
    names.into_iter().for_each(|at| twice[at..at + 11].copy_from_slice(b"audio/a.wav"));
    let bomb = [entry(MANIFEST, deflated, vec![b' '; 200_000]), entry(PROJECT, deflated, text(&bare))];
    let outside = [
        entry(MANIFEST, stored, text(&manifest(json!([audio("f1", "audio/../x")])))),
        entry(PROJECT, stored, text(&bare)),
        entry(AUDIO_FOLDER, stored, Vec::new()),
    ];
    let mut prefixed = b"something before it".to_vec();
    prefixed.extend(&silent);
    [
        ("stored.zip", bundle(stored)),
        ("deflated.zip", bundle(deflated)),
        ("silent.zip", silent),
        ("one-name-twice.zip", twice),
        ("spaces.zip", archive_of(&bomb).expect("an archive")),
        ("outside.zip", archive_of(&outside).expect("an archive")),
        ("prefixed.zip", prefixed),
        ("empty.zip", archive_of(&[]).expect("an archive")),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// None.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}
