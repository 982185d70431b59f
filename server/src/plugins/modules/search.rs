//! Finds plugin modules and SoundFonts below folders. It recognizes them by their names, without
//! opening files:
//!
//! - A `.vst3` file or bundle is VST3. Files in a bundle are not separate modules.
//! - A `.dll`, `.so`, `.vst` or `.component` is VST2, unless its folder also contains a `.vst3` or
//!   is itself within a `.vst3` folder.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use songfoundry_bridge_protocol::PluginFormat;

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum depth in levels of folders, including the first folder.
    pub(crate) depth: usize,
    /// Maximum total number of folder entries.
    pub(crate) entries: usize,
    /// Maximum number of modules, and also of SoundFonts.
    pub(crate) files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 8, entries: 50_000, files: 2_000 }
    }
}

/// A plugin module: a file or a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// Path without symbolic links.
    pub(crate) path: PathBuf,
    /// File name without the extension.
    pub(crate) stem: String,
    pub(crate) format: PluginFormat,
}

/// A SoundFont file that the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoundFontFile {
    /// Path without symbolic links.
    pub(crate) path: PathBuf,
    /// The searched folder that contains the file.
    pub(crate) directory: PathBuf,
}

/// A file or folder with a remark, such as the reason why it is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// Result of a search.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// In the order of a depth-first search. The entries of a folder are visited by name.
    pub(crate) modules: Vec<Module>,
    pub(crate) soundfonts: Vec<SoundFontFile>,
    /// Modules that the rules in this file's documentation exclude.
    pub(crate) ignored: Vec<Remark>,
    /// Folders that could not be read, or that `allow` refuses.
    pub(crate) unreadable: Vec<Remark>,
    /// Whether the search stopped early because of a limit.
    pub(crate) truncated: bool,
}

/// Searches folders recursively. Follows symbolic links, but visits each folder and file only once.
/// `allow` gets a path without symbolic links and decides whether to visit it. Blocks.
pub(crate) fn search(dirs: &[PathBuf], limits: Limits, allow: &dyn Fn(&Path) -> bool) -> SearchResult {
    let mut search = Search {
        limits,
        allow,
        entries: 0,
        seen: HashSet::new(),
        directory: Path::new(""),
        found: SearchResult::default(),
    };
    for dir in dirs {
        search.directory = dir;
        search.search_root(dir);
    }
    search.found
}

struct Search<'a> {
    limits: Limits,
    allow: &'a dyn Fn(&Path) -> bool,
    entries: usize,
    seen: HashSet<PathBuf>,
    directory: &'a Path,
    found: SearchResult,
}

/// An entry of a folder.
struct Entry {
    name: String,
    real: PathBuf,
    is_dir: bool,
}

/// Kind of a file according to its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vst3,
    Vst2,
    SoundFont,
    Other,
}

impl Search<'_> {
    fn search_root(&mut self, dir: &Path) {
        let real = match dir.canonicalize() {
            Ok(real) => real,
            Err(error) => return self.cannot_read(dir, &error),
        };
        if !(self.allow)(&real) {
            return self.found.unreadable.push(Remark {
                path: dir.to_owned(),
                reason: "the settings do not allow plugins in this folder (SF_PLUGIN_ROOTS)".to_owned(),
            });
        }
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_in_bundle = real.ancestors().any(|dir| dir.extension().is_some_and(is_vst3));
        if kind(&name) == Kind::Vst3 && is_bundle(&real) {
            return self.add_module(Entry { name, real, is_dir: true }, PluginFormat::Vst3);
        }
        if self.seen.insert(real.clone()) {
            self.visit(&real, self.limits.depth, is_in_bundle);
        }
    }

    /// Searches a folder. With `is_in_bundle`, the folder lies within a `.vst3` folder, so VST2
    /// libraries in it are ignored.
    fn visit(&mut self, dir: &Path, depth: usize, is_in_bundle: bool) {
        let entries = self.entries_of(dir);
        let has_vst3 = entries.iter().any(|entry| kind(&entry.name) == Kind::Vst3);
        for entry in entries {
            match kind(&entry.name) {
                // A folder that has the name of a library but is not a bundle is an ordinary
                // folder.
                Kind::Vst2 if entry.is_dir && !is_bundle(&entry.real) => {
                    self.descend(&entry.real, depth, is_in_bundle);
                }
                Kind::Vst3 if !entry.is_dir || is_bundle(&entry.real) => {
                    self.add_module(entry, PluginFormat::Vst3);
                }
                Kind::Vst3 => self.descend(&entry.real, depth, true),
                Kind::Vst2 if is_in_bundle => self.ignore(entry, "it is in a .vst3 folder"),
                Kind::Vst2 if has_vst3 => self.ignore(entry, "its folder contains a .vst3 module"),
                Kind::Vst2 => self.add_module(entry, PluginFormat::Vst2),
                _ if entry.is_dir => self.descend(&entry.real, depth, is_in_bundle),
                Kind::SoundFont => self.add_soundfont(entry.real),
                Kind::Other => {}
            }
        }
    }

    fn descend(&mut self, real: &Path, depth: usize, is_in_bundle: bool) {
        if depth <= 1 {
            self.found.truncated = true;
        } else if self.seen.insert(real.to_owned()) {
            self.visit(real, depth - 1, is_in_bundle);
        }
    }

    /// Returns the allowed entries of a folder, sorted by name.
    fn entries_of(&mut self, dir: &Path) -> Vec<Entry> {
        let dir_entries = match fs::read_dir(dir) {
            Ok(dir_entries) => dir_entries,
            Err(error) => {
                self.cannot_read(dir, &error);
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        for entry in dir_entries.flatten() {
            if self.entries == self.limits.entries {
                self.found.truncated = true;
                break;
            }
            self.entries += 1;
            // Skips broken links.
            let Ok(real) = entry.path().canonicalize() else { continue };
            let Ok(metadata) = fs::metadata(&real) else { continue };
            if (metadata.is_dir() || metadata.is_file()) && (self.allow)(&real) {
                let name = entry.file_name().to_string_lossy().into_owned();
                entries.push(Entry { name, real, is_dir: metadata.is_dir() });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    fn add_module(&mut self, entry: Entry, format: PluginFormat) {
        if self.found.modules.len() == self.limits.files {
            self.found.truncated = true;
        } else if self.seen.insert(entry.real.clone()) {
            let stem = Path::new(&entry.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            self.found.modules.push(Module { path: entry.real, stem, format });
        }
    }

    fn add_soundfont(&mut self, real: PathBuf) {
        if self.found.soundfonts.len() == self.limits.files {
            self.found.truncated = true;
        } else if self.seen.insert(real.clone()) {
            let directory = self.directory.to_owned();
            self.found.soundfonts.push(SoundFontFile { path: real, directory });
        }
    }

    fn ignore(&mut self, entry: Entry, reason: &str) {
        self.found.ignored.push(Remark { path: entry.real, reason: reason.to_owned() });
    }

    fn cannot_read(&mut self, dir: &Path, error: &std::io::Error) {
        self.found.unreadable.push(Remark { path: dir.to_owned(), reason: error.to_string() });
    }
}

/// Whether a folder has the layout of a bundle: a folder `Contents`.
fn is_bundle(dir: &Path) -> bool {
    dir.join("Contents").is_dir()
}

fn is_vst3(extension: &std::ffi::OsStr) -> bool {
    extension.eq_ignore_ascii_case("vst3")
}

fn kind(name: &str) -> Kind {
    let extension = Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str().unwrap_or_default() {
        "vst3" => Kind::Vst3,
        "dll" | "so" | "vst" | "component" => Kind::Vst2,
        "sf2" | "sf3" => Kind::SoundFont,
        _ => Kind::Other,
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
