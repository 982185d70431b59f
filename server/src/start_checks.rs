//! Warns about settings whose folders are missing. The service starts without these folders.

use crate::config::{Config, SoundConfig};

/// Warns if the folder of the web page has no page. Blocks.
pub(crate) fn warn_of_page(config: &Config) {
    let missing_page = config.web_dir.iter().filter(|dir| !dir.join("index.html").is_file());
    for dir in missing_page {
        let dir = dir.display();
        tracing::warn!("SF_WEB_DIR is `{dir}`, which has no index.html; the web page is not served");
    }
}

/// Warns about SoundFont folders that cannot be read. Blocks.
pub(crate) fn warn_of_soundfont_dirs(sound: &SoundConfig) {
    if !sound.soundfont_dirs_are_set {
        return;
    }
    for dir in &sound.soundfont_dirs {
        if let Err(error) = std::fs::read_dir(dir) {
            let dir = dir.display();
            tracing::warn!(
                "SF_SOUNDFONT_DIRS names `{dir}`, which cannot be read as a folder ({error}); its SoundFonts are not available"
            );
        }
    }
}
