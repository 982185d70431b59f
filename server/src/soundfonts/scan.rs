//! Searches folders for SoundFonts. Reads only the files that are new or have changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::inspect::{Inspection, inspect};
use super::snapshot::{
    FOUND_FIRST_REASON, PLAYABLE_FIRST_REASON, SF2_FIRST_REASON, ShadowedSoundFont, Snapshot, other_soundfont,
};
use super::{BankFile, SoundFont, SoundFontFormat, SoundFontSource, SoundFontSummary, id_of_name};
use crate::clock;
use crate::rendering::banks::Version;

/// Maximum depth of the search in levels of folders, including the first folder.
const DEPTH_MAX: usize = 4;

/// Ids of default banks if the settings name none, or one that is missing or cannot be played. The
/// first one that is found and can be played is used.
const USUAL_DEFAULTS: [&str; 2] = ["timgm6mb", "fluidr3gm"];

/// Maximum number of files in the catalogue. Further files are left out, with a warning in the log.
const FILES_MAX: usize = 2_000;

/// Searches the folders, and caches the inspections of their files.
#[derive(Debug)]
pub(super) struct Scanner {
    folders: Vec<PathBuf>,
    preferred_id: Option<String>,
    inspections: HashMap<PathBuf, (Version, Inspection)>,
}

struct FoundFile {
    path: PathBuf,
    version: Version,
}

impl Scanner {
    pub(super) fn new(folders: Vec<PathBuf>, preferred_id: Option<String>) -> Self {
        Self { folders, preferred_id, inspections: HashMap::new() }
    }

    /// Searches the folders. `extra_files` are the real paths of files that were found elsewhere.
    pub(super) fn scan(&mut self, extra_files: Vec<PathBuf>) -> Snapshot {
        let files = self.find(extra_files);
        let mut cached_inspections = std::mem::take(&mut self.inspections);
        let mut by_id: BTreeMap<String, Vec<SoundFont>> = BTreeMap::new();
        for file in files {
            let inspection = match cached_inspections.remove(&file.path) {
                Some((version, inspection)) if version == file.version => inspection,
                _ => {
                    let inspection = inspect(&file.path);
                    let problem = inspection.problem.as_deref();
                    let skipped_count = inspection.skipped_parts.count;
                    tracing::info!(path = ?file.path, problem, skipped = skipped_count, "inspected a SoundFont");
                    inspection
                }
            };
            let soundfont = soundfont(&file, &inspection);
            self.inspections.insert(file.path, (file.version, inspection));
            by_id.entry(soundfont.summary.soundfont_id.clone()).or_default().push(soundfont);
        }
        let mut shadowed_files = Vec::new();
        let mut soundfonts: Vec<SoundFont> =
            by_id.into_values().filter_map(|same_id| choose(same_id, &mut shadowed_files)).collect();
        if let Some(index) = default_index(&soundfonts, self.preferred_id.as_deref()) {
            soundfonts[index].summary.default = true;
        }
        Snapshot { soundfonts, shadowed: shadowed_files, scanned_at: clock::now_text() }
    }

    /// Returns the files of all folders by their real paths, each only once. They are in the order
    /// of the folders, followed by `extra_files`.
    fn find(&self, extra_files: Vec<PathBuf>) -> Vec<FoundFile> {
        let mut seen_folders = HashSet::new();
        let mut files = Vec::new();
        for folder in &self.folders {
            let mut paths = Vec::new();
            search(folder, DEPTH_MAX, &mut seen_folders, &mut paths);
            paths.sort();
            for path in paths {
                let Ok(metadata) = fs::metadata(&path) else { continue };
                files.push(FoundFile { path, version: Version::from_metadata(&metadata) });
            }
        }
        for path in extra_files {
            if let Ok(metadata) = fs::metadata(&path)
                && seen_folders.insert(path.clone())
            {
                files.push(FoundFile { path, version: Version::from_metadata(&metadata) });
            }
        }
        if files.len() > FILES_MAX {
            tracing::warn!(
                found = files.len(),
                maximum = FILES_MAX,
                "too many SoundFont files; only the first ones, up to the maximum, are in the catalogue"
            );
            files.truncate(FILES_MAX);
        }
        files
    }
}

/// Collects the real paths of the SoundFont files below a folder. Follows symbolic links. A file
/// with several links is collected only once.
fn search(folder: &Path, depth: usize, seen_folders: &mut HashSet<PathBuf>, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(real_path) = entry.path().canonicalize() else { continue };
        if real_path.is_dir() {
            if depth > 1 && seen_folders.insert(real_path.clone()) {
                search(&real_path, depth - 1, seen_folders, paths);
            }
        } else if real_path.is_file() && is_soundfont(&real_path) && seen_folders.insert(real_path.clone()) {
            paths.push(real_path);
        }
    }
}

fn is_soundfont(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(SoundFontFormat::of_extension).is_some()
}

fn soundfont(file: &FoundFile, inspection: &Inspection) -> SoundFont {
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    SoundFont {
        summary: SoundFontSummary {
            soundfont_id: Some(id_of_name(&stem))
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| "unnamed".into()),
            name: inspection.name.clone(),
            source: SoundFontSource::System,
            format: inspection.format,
            size_bytes: file.version.size_bytes,
            content_hash: inspection.content_hash.clone(),
            default: false,
            usable: inspection.problem.is_none(),
            problem: inspection.problem.clone(),
            skipped: inspection.skipped_parts.clone(),
            others: Vec::new(),
        },
        presets: inspection.presets.clone(),
        file: BankFile::InFolder { path: file.path.clone(), version: file.version },
    }
}

/// Chooses from files with the same id: first those that can be played, then SF2 before SF3, then
/// the file that was found first. The chosen SoundFont lists the others.
fn choose(mut candidates: Vec<SoundFont>, shadowed_files: &mut Vec<ShadowedSoundFont>) -> Option<SoundFont> {
    let rank = |soundfont: &SoundFont| (!soundfont.summary.usable, soundfont.summary.format);
    // The sort is stable, so equal files stay in the order in which they were found.
    candidates.sort_by_key(rank);
    let mut rivals = candidates.into_iter();
    let mut chosen_soundfont = rivals.next()?;
    for file in rivals {
        let reason = match (rank(&chosen_soundfont), rank(&file)) {
            ((false, _), (true, _)) => PLAYABLE_FIRST_REASON,
            ((_, best), (_, format)) if best != format => SF2_FIRST_REASON,
            _ => FOUND_FIRST_REASON,
        };
        chosen_soundfont.summary.others.push(other_soundfont(
            SoundFontSource::System,
            file.summary.format,
            reason,
        ));
        if let (Some(path), Some(chosen_path)) = (file.path(), chosen_soundfont.path()) {
            shadowed_files.push(ShadowedSoundFont {
                soundfont_id: file.summary.soundfont_id.clone(),
                format: file.summary.format,
                path: path.to_owned(),
                reason,
                preferred_path: chosen_path.to_owned(),
            });
        }
    }
    Some(chosen_soundfont)
}

fn default_index(soundfonts: &[SoundFont], preferred_id: Option<&str>) -> Option<usize> {
    let index = |id: &str| {
        soundfonts
            .iter()
            .position(|soundfont| soundfont.summary.soundfont_id == id && soundfont.summary.usable)
    };
    preferred_id
        .into_iter()
        .chain(USUAL_DEFAULTS)
        .find_map(index)
        .or_else(|| soundfonts.iter().position(|soundfont| soundfont.summary.usable))
}
