//! Fuzz target for bundles. An archive must be refused, or read to its manifest, its project and
//! its recordings, each within its size limit. Recordings must have plain file names.

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
use crate::{Seed, mutate, with_memory_limit};

#[path = "../../../server/src/bundles/archive.rs"]
mod archive;
#[path = "../../../server/src/bundles/audio_ids.rs"]
mod audio_ids;
#[path = "../../../server/src/bundles/manifest.rs"]
mod manifest;

use archive::{AUDIO_FOLDER, Archive, BundleError, MANIFEST_PATH, PROJECT_PATH};
use manifest::{FORMAT, VERSION};

/// Maximum bytes of a project in this target.
const PROJECT_MAX_BYTES: u64 = 256 << 10;
/// Maximum bytes of a recording in this target.
const SOUND_MAX_BYTES: u64 = 1 << 20;

/// Maximum bytes that are read to open an archive and to find its entries: twice
/// `DIRECTORY_MAX_BYTES` of [`archive`].
const OPENING_MAX_BYTES: u64 = 2 * 8 * 1024 * 1024;

/// Returns the maximum memory of opening an archive.
fn limit_bytes(file: &[u8]) -> usize {
    64 * file.len() + (1 << 20)
}

/// Panics if an archive is read incorrectly.
pub fn check(file: &[u8]) {
    let count = Cell::new(0);
    let reader = Counted { inner: Cursor::new(file), count: &count };
    let opened_archive = with_memory_limit(limit_bytes(file), "opening an archive", || Archive::open(reader));
    assert!(count.get() <= OPENING_MAX_BYTES, "{} bytes were read to open the archive", count.get());
    let Some(mut archive) = unless_refused(opened_archive) else { return };
    let project = unless_refused(archive.read_entry(PROJECT_PATH, PROJECT_MAX_BYTES, "A project"));
    assert!(project.as_ref().is_none_or(|text| text.len() as u64 <= PROJECT_MAX_BYTES));
    let Some(manifest) = unless_refused(manifest::read(&mut archive)) else { return };
    let mut new_ids = HashMap::new();
    for (number, audio_entry) in manifest.audio.iter().enumerate() {
        let parts: Vec<Component<'_>> = Path::new(&audio_entry.path).components().collect();
        assert!(matches!(parts[..], [Component::Normal(_), Component::Normal(_)]), "{:?}", audio_entry.path);
        if let Some(entry) = unless_refused(archive.entry(&audio_entry.path)) {
            let mut sound = Vec::new();
            // Reading a damaged entry may fail.
            let _ = entry.take(SOUND_MAX_BYTES).read_to_end(&mut sound);
        }
        new_ids.insert(audio_entry.server_file_id.clone(), format!("new-{number}"));
    }
    if let Some(document) = project.and_then(|text| JsonText::read(&text).ok()) {
        check_ids(&document, &new_ids);
    }
}

/// Returns the content of a result, or `None` if the archive was refused. The archive is in memory,
/// so a disk error is a defect.
fn unless_refused<T>(answer: Result<T, BundleError>) -> Option<T> {
    match answer {
        Ok(content) => Some(content),
        Err(BundleError::Io(error)) => panic!("a disk error was reported: {error}"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Checks that a valid project stays valid when its audio ids are replaced, and that it contains
/// the new ids.
fn check_ids(document: &JsonText, new_ids: &HashMap<String, String>) {
    let replaced = audio_ids::replace_audio_ids(document, new_ids);
    let Ok(document) = upgrade(document, "fuzz") else { return };
    if validate(&document).is_err() {
        return;
    }
    let replaced = upgrade(&replaced, "fuzz").expect("an object");
    assert_eq!(validate(&replaced), Ok(()), "a project with other ids");
    let files = |document: &JsonText| files_used(&schemas::read::project(document).expect("a project"));
    let mut expected: Vec<String> =
        files(&document).into_iter().map(|id| new_ids.get(&id).cloned().unwrap_or(id)).collect();
    let mut actual = files(&replaced);
    (expected.sort_unstable(), actual.sort_unstable());
    (expected.dedup(), actual.dedup());
    assert_eq!(actual, expected, "the files of a project with other ids");
}

/// A reader that counts the bytes that are read.
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

/// Maximum number of entries that are kept of an archive that is mutated.
const MAX_ENTRIES: usize = 100;

struct Entry {
    name: String,
    method: CompressionMethod,
    content: Vec<u8>,
}

fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let count = zip.len().min(MAX_ENTRIES);
    (0..count).map(|number| entry(&mut zip, number)).collect()
}

fn entry(zip: &mut ZipArchive<Cursor<&[u8]>>, number: usize) -> Option<Entry> {
    let entry = zip.by_index(number).ok()?;
    let (name, method) = (entry.name().ok()?.into_owned(), entry.compression());
    let mut content = Vec::new();
    entry.take(PROJECT_MAX_BYTES).read_to_end(&mut content).ok()?;
    Some(Entry { name, method, content })
}

/// Returns an archive of these entries. An entry with the name of an earlier one is left out.
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
        MANIFEST_PATH,
        PROJECT_PATH,
        "audio/a.wav",
        "audio/b.ogg",
        "audio/../c",
        "audio/",
        "/audio/d",
        "../bundle.json",
    ];
    // The bytes of the whole archive are mutated, including headers and the directory.
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

/// Returns bundles with stored and deflated entries, with and without recordings.
pub fn seeds() -> Vec<Seed> {
    let (stored_method, deflated_method) = (CompressionMethod::Stored, CompressionMethod::Deflated);
    let item = |id: &str, file: &str| {
        json!({"type": "audio", "id": id, "start_tick": 0, "source": {"server_file_id": file}, "server_file_id": file,
               "audio_file_url": format!("/api/v1/audio/{file}/file")})
    };
    let project = json!({"schema_version": 1, "project_id": "song", "name": "Äther", "tracks": [
        {"id": "t", "kind": "audio", "items": [item("a", "f1"), item("b", "f2"), item("c", "gone")],
         "effects": [{"id": "e", "type": "builtin", "name": "convolution", "impulse": "f2"}]}]});
    let empty_project = json!({"schema_version": 1, "project_id": "bare", "tracks": []});
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
            entry(MANIFEST_PATH, method, text(&sounds)),
            entry(PROJECT_PATH, method, text(&project)),
            entry("audio/a.wav", stored_method, b"RIFF".to_vec()),
            entry("audio/b.ogg", method, vec![0; 3_000]),
        ];
        archive_of(&entries).expect("an archive")
    };
    let silent_archive = [
        entry(MANIFEST_PATH, deflated_method, text(&manifest(json!([])))),
        entry(PROJECT_PATH, deflated_method, text(&empty_project)),
    ];
    let silent_archive = archive_of(&silent_archive).expect("an archive");
    let mut duplicate_names = bundle(stored_method);
    // The second recording gets the name of the first, in its header and in the directory.
    let names: Vec<usize> = (0..duplicate_names.len())
        .filter(|offset| duplicate_names[*offset..].starts_with(b"audio/b.ogg"))
        .collect();
    names.into_iter().for_each(|offset| duplicate_names[offset..offset + 11].copy_from_slice(b"audio/a.wav"));
    let bomb = [
        entry(MANIFEST_PATH, deflated_method, vec![b' '; 200_000]),
        entry(PROJECT_PATH, deflated_method, text(&empty_project)),
    ];
    let outside = [
        entry(MANIFEST_PATH, stored_method, text(&manifest(json!([audio("f1", "audio/../x")])))),
        entry(PROJECT_PATH, stored_method, text(&empty_project)),
        entry(AUDIO_FOLDER, stored_method, Vec::new()),
    ];
    let mut prefixed = b"something before it".to_vec();
    prefixed.extend(&silent_archive);
    [
        ("stored.zip", bundle(stored_method)),
        ("deflated.zip", bundle(deflated_method)),
        ("silent.zip", silent_archive),
        ("one-name-twice.zip", duplicate_names),
        ("spaces.zip", archive_of(&bomb).expect("an archive")),
        ("outside.zip", archive_of(&outside).expect("an archive")),
        ("prefixed.zip", prefixed),
        ("empty.zip", archive_of(&[]).expect("an archive")),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Returns no seeds.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}
