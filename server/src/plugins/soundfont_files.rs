//! Finds SoundFonts in the plugin folders of users.

use std::path::PathBuf;

use super::dirs::{FolderRules, store};
use super::modules::{Limits, search};
use crate::config::Config;
use crate::soundfonts::{PrepareSearch, Search};

/// Returns a function that searches the plugin folders of all users for SoundFonts.
pub(crate) fn soundfont_files(config: &Config) -> PrepareSearch {
    let rules = FolderRules::new(config);
    Box::new(move |db| {
        let rules = rules.clone();
        Box::pin(async move {
            let paths: Vec<PathBuf> = store::of_all(&db).await?.into_iter().map(PathBuf::from).collect();
            let search: Search = Box::new(move || {
                let resolved = rules.resolve();
                let search_result = search(&paths, Limits::default(), &|real| resolved.allows(real));
                search_result.soundfonts.into_iter().map(|file| file.path).collect()
            });
            Ok(search)
        })
    })
}
