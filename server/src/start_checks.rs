//! Settings that name what is not there: the service starts without it, and says so.

use crate::config::{Config, SoundConfig};
use crate::plugins::soundfonts::{Snapshot, id_of_name};

/// Warns of a folder of the page that a setting names and that has no page. Blocks.
pub(crate) fn warn_of_page(config: &Config) {
    let missing_page = config.web_dir.iter().filter(|dir| !dir.join("index.html").is_file());
    for dir in missing_page {
        let dir = dir.display();
        tracing::warn!("SF_WEB_DIR is `{dir}`, where there is no index.html; the page is not served");
    }
}

/// Warns of folders of SoundFonts that a setting names and that cannot be read. Blocks.
pub(crate) fn warn_of_soundfont_dirs(sound: &SoundConfig) {
    if !sound.soundfont_dirs_are_set {
        return;
    }
    for dir in &sound.soundfont_dirs {
        if let Err(error) = std::fs::read_dir(dir) {
            let dir = dir.display();
            tracing::warn!(
                "SF_SOUNDFONT_DIRS names `{dir}`, which cannot be read as a folder ({error}); no SoundFont is found there"
            );
        }
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
