//! The SoundFonts of `songfoundry render`, and its folder for temporary files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dsp_core::soundfont::Bank;

use crate::rendering::budget::{BudgetShare, RenderBudget};
use crate::rendering::missing::OpenedBank;
use crate::rendering::sources::{Recording, Sources};
use crate::rendering::workspace::Workspace;
use crate::rendering::{RenderError, banks};
use crate::soundfonts::id_of_name;

/// A bank of the command line.
#[derive(Clone)]
pub(super) struct NamedBank {
    /// Id under which projects name the bank.
    soundfont_id: String,
    bank: Bank,
}

/// Opens the banks.
///
/// # Errors
/// The first file that is not a usable bank, or whose id another file has.
pub(super) fn open(paths: &[PathBuf]) -> anyhow::Result<Vec<NamedBank>> {
    let mut opened_banks: Vec<NamedBank> = Vec::new();
    for path in paths {
        let soundfont_id = id_of_name(&path.file_stem().unwrap_or_default().to_string_lossy());
        if opened_banks.iter().any(|opened_bank| opened_bank.soundfont_id == soundfont_id) {
            bail!("two SoundFonts have the id `{soundfont_id}`; leave out {}", path.display());
        }
        let bank = banks::open(path).with_context(|| format!("{}", path.display()))?;
        opened_banks.push(NamedBank { soundfont_id, bank });
    }
    Ok(opened_banks)
}

/// Sources that play each track with the bank that it names. Without such a bank, the track plays
/// the first bank.
pub(super) struct CommandLineSources {
    banks: Vec<NamedBank>,
    budget: BudgetShare,
    /// Folder for temporary files.
    folder: PathBuf,
}

impl CommandLineSources {
    /// Returns the sources of a render that may use `memory_bytes`.
    pub(super) fn new(banks: &[NamedBank], memory_bytes: u64, folder: &Path) -> Self {
        Self {
            banks: banks.to_vec(),
            budget: RenderBudget::unshared(memory_bytes).share_of(""),
            folder: folder.to_owned(),
        }
    }

    /// Returns the ids of the banks.
    pub(super) fn soundfonts(&self) -> Vec<String> {
        self.banks.iter().map(|bank| bank.soundfont_id.clone()).collect()
    }
}

impl Sources for CommandLineSources {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        let requested_id = soundfont_id.map(id_of_name);
        let requested_bank = self.banks.iter().find(|bank| requested_id.as_ref() == Some(&bank.soundfont_id));
        let played_bank = requested_bank.or(self.banks.first());
        Ok(played_bank.map(|NamedBank { soundfont_id, bank }| OpenedBank {
            bank: bank.clone(),
            soundfont_id: soundfont_id.clone(),
            version: String::new(),
            is_substitute: requested_id.is_some() && requested_bank.is_none(),
            is_upload: false,
        }))
    }

    fn recording(&mut self, _server_file_id: &str) -> Option<Recording> {
        // Recordings are stored in the service, so the command line has none.
        None
    }

    fn budget(&self) -> BudgetShare {
        self.budget.clone()
    }
}

impl Workspace for CommandLineSources {
    fn temporary_file(&mut self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }
}
