//! Settings that name what is not there: the service starts without it, and says so.

use std::path::Path;

use crate::config::{Config, SoundConfig};
use crate::plugins::soundfonts::{Snapshot, id_of_name};

/// Warns of folders that settings name and that are missing or hold nothing of use. Blocks.
pub(crate) fn warn_of_folders(config: &Config) {
    let missing_page = config.web_dir.iter().filter(|dir| !dir.join("index.html").is_file());
    for dir in missing_page {
        let dir = dir.display();
        tracing::warn!("SF_WEB_DIR is `{dir}`, where there is no index.html; the page is not served");
    }
    let sound = &config.sound;
    let is_missing = |dir: &&Path| sound.soundfont_dirs_are_set && !dir.is_dir();
    for dir in sound.soundfont_dirs.iter().map(AsRef::as_ref).filter(is_missing) {
        let dir = dir.display();
        tracing::warn!("SF_SOUNDFONT_DIRS names `{dir}`, which is not a folder; no SoundFont is found there");
    }
}

/// Warns if a setting names a default SoundFont that is not among those that a scan found.
pub(crate) fn warn_of_default_soundfont(sound: &SoundConfig, found: &Snapshot) {
    let Some(named) = &sound.default_soundfont else { return };
    if found.find(&id_of_name(named)).is_some_and(|one| one.summary.usable) {
        return;
    }
    match found.default_soundfont() {
        Some(other) => {
            let instead = &other.summary.soundfont_id;
            tracing::warn!(
                "SF_DEFAULT_SOUNDFONT is `{named}`, which is not there or not usable; `{instead}` is used"
            );
        }
        None => tracing::warn!("SF_DEFAULT_SOUNDFONT is `{named}`, and no usable SoundFont is installed"),
    }
}
