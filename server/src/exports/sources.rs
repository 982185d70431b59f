//! Opens the SoundFonts and recordings that an export needs.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::session::files_used;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::plugin_sounds::PluginSounds;
use crate::audio;
use crate::encoding::EncoderProgram;
use crate::error::ApiResult;
use crate::rendering::budget::BudgetShare;
use crate::rendering::missing::OpenedBank;
use crate::rendering::plugin_effects::PluginEffectPart;
use crate::rendering::plugin_track::TimeSignatureChange;
use crate::rendering::sources::{PluginPart, PluginSound, Recording, Sources};
use crate::rendering::workspace::Workspace;
use crate::rendering::{Observer, RenderError};
use crate::soundfonts::{Snapshot, SoundFontSource};
use crate::state::AppState;
use crate::storage::ensure_room;

/// The SoundFonts and recordings that a user has for a project.
pub(super) struct ProjectSources<'a> {
    snapshot: &'a Snapshot,
    plugins: PluginSounds<'a>,
    time_signatures: Vec<TimeSignatureChange>,
    /// The outcome of each plugin instrument and plugin effect. If it is `Some`, a plugin that
    /// fails does not end the render.
    pub(super) plugin_outcomes: Option<Vec<PluginOutcome>>,
    /// Ids of the SoundFonts that were opened.
    pub(super) soundfonts: Vec<String>,
    recordings: HashMap<String, Recording>,
}

/// The outcome of a plugin instrument or a plugin effect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct PluginOutcome {
    /// Id of the track; null for an effect of the master.
    track_id: Option<String>,
    /// Id of the effect; null for the instrument of the track.
    effect_id: Option<String>,
    /// State of the plugin's sound.
    #[serde(flatten)]
    state: PluginState,
}

/// State of a plugin's sound.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum PluginState {
    /// The sound is stored.
    Ready {
        /// Id of the sound. It changes with everything that determines the sound.
        sound_id: String,
        /// Length in frames at the sample rate of the project.
        frames: u64,
        /// Whether the sound is silent.
        is_silent: bool,
        /// Faults of the sound, as sentences: values and automation of parameters that the plugin
        /// does not have are ignored, and samples that are not numbers are silent.
        warnings: Vec<String>,
    },
    /// The plugin cannot be used here.
    Missing {
        /// Reason, as a clause without a capital letter and a full stop.
        reason: String,
    },
    /// The plugin fails.
    Failed {
        /// Reason, as a sentence.
        reason: String,
    },
}

impl<'a> ProjectSources<'a> {
    /// Opens those recordings of a project that the owner of the plugins has. Blocks, and fails
    /// when `should_continue` returns false.
    pub(super) fn open(
        plugins: PluginSounds<'a>,
        snapshot: &'a Snapshot,
        project: &Project,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> ApiResult<Self> {
        let PluginSounds { state, runtime, owner_id, .. } = plugins;
        let recordings = open_recordings(state, runtime, owner_id, project, should_continue)?;
        let time_signatures = TimeSignatureChange::all(project)?;
        Ok(Self {
            snapshot,
            plugins,
            time_signatures,
            plugin_outcomes: None,
            soundfonts: Vec::new(),
            recordings,
        })
    }

    /// Records the outcome of a plugin. `effect_id` is `None` for an instrument.
    fn record(
        &mut self,
        track_id: Option<&str>,
        effect_id: Option<&str>,
        sound: Result<PluginSound, RenderError>,
    ) -> Result<PluginSound, RenderError> {
        let Some(outcomes) = &mut self.plugin_outcomes else { return sound };
        let (state, sound) = match sound {
            Ok(PluginSound::Rendered { audio, version, is_silent, warnings }) => {
                let ready = PluginState::Ready {
                    sound_id: version.clone(),
                    frames: audio.frames(),
                    is_silent,
                    warnings: warnings.iter().map(|warning| warning.in_words(None)).collect(),
                };
                (ready, PluginSound::Rendered { audio, version, is_silent, warnings })
            }
            Ok(PluginSound::Missing { reason }) => {
                (PluginState::Missing { reason: reason.clone() }, PluginSound::Missing { reason })
            }
            // The outcome names the plugin already.
            Err(RenderError::SongPlugin { source, .. }) => {
                let reason = source.to_string();
                (PluginState::Failed { reason: reason.clone() }, PluginSound::Missing { reason })
            }
            Err(error @ (RenderError::Plugin(_) | RenderError::PluginSetup { .. })) => {
                let reason = error.to_string();
                (PluginState::Failed { reason: reason.clone() }, PluginSound::Missing { reason })
            }
            Err(other) => return Err(other),
        };
        outcomes.push(PluginOutcome {
            track_id: track_id.map(str::to_owned),
            effect_id: effect_id.map(str::to_owned),
            state,
        });
        Ok(sound)
    }

    fn workspace(&self) -> StorageWorkspace<'a> {
        StorageWorkspace { state: self.plugins.state, runtime: self.plugins.runtime }
    }
}

impl Sources for ProjectSources<'_> {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        let (bank, chosen) =
            self.snapshot.open(self.plugins.state, soundfont_id)?.ok_or(RenderError::NoSoundFont)?;
        let id = chosen.soundfont.summary.soundfont_id.clone();
        if !self.soundfonts.contains(&id) {
            self.soundfonts.push(id.clone());
        }
        let is_upload = chosen.soundfont.summary.source == SoundFontSource::Upload;
        let version = chosen.soundfont.file.version_text();
        Ok(Some(OpenedBank { bank, soundfont_id: id, version, is_substitute: chosen.fallback, is_upload }))
    }

    fn prepare(
        &mut self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        self.plugins.state.soundfonts.banks.prepare(bank, name, presets, should_continue)
    }

    fn bank_memory_bytes(&self) -> (u64, u64) {
        let banks = &self.plugins.state.soundfonts.banks;
        (banks.total_bytes(), banks.uploads_max_bytes())
    }

    fn recording(&mut self, server_file_id: &str) -> Option<Recording> {
        self.recordings.get(server_file_id).cloned()
    }

    fn plugin_sound(
        &mut self,
        part: &PluginPart<'_>,
        observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        let sound = self.plugins.instrument(part, &self.time_signatures, observer);
        self.record(Some(part.track_id), None, sound)
    }

    fn plugin_effect_sound(
        &mut self,
        part: &PluginEffectPart<'_>,
        observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        let sound = self.plugins.effect(part, &self.time_signatures, observer);
        self.record(part.track_id, Some(&part.effect.id), sound)
    }

    fn budget(&self) -> BudgetShare {
        self.plugins.state.exports.budget.share_of(self.plugins.owner_id)
    }
}

impl Workspace for ProjectSources<'_> {
    fn ensure_room(&mut self, size_bytes: u64) -> io::Result<()> {
        self.workspace().ensure_room(size_bytes)
    }

    fn temporary_file(&mut self) -> io::Result<File> {
        self.workspace().temporary_file()
    }

    fn encoder(&self) -> io::Result<EncoderProgram> {
        self.workspace().encoder()
    }
}

/// Makes temporary files in the storage.
pub(super) struct StorageWorkspace<'a> {
    pub(super) state: &'a AppState,
    /// Runtime for queries of the database, because tasks run on threads outside of it.
    pub(super) runtime: &'a Handle,
}

impl Workspace for StorageWorkspace<'_> {
    fn ensure_room(&mut self, size_bytes: u64) -> io::Result<()> {
        Ok(ensure_room(self.state, self.runtime, &self.state.config.storage.dir, size_bytes)?)
    }

    fn temporary_file(&mut self) -> io::Result<File> {
        tempfile::tempfile_in(&self.state.config.storage.dir)
    }

    fn encoder(&self) -> io::Result<EncoderProgram> {
        EncoderProgram::of_this_program(self.state.helpers.clone())
    }
}

/// Opens those recordings of a project that its owner has. Blocks.
fn open_recordings(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    project: &Project,
    should_continue: &mut dyn FnMut() -> bool,
) -> ApiResult<HashMap<String, Recording>> {
    let mut recordings = HashMap::new();
    // One query returns all files: a project may refer to 200,000 files that do not exist.
    let owned_ids = runtime.block_on(audio::ids(&state.db, owner_id))?;
    for id in files_used(project).into_iter().filter(|id| owned_ids.contains(id)) {
        // Converting the sample rate of a file may take up to a minute.
        if !should_continue() {
            return Err(RenderError::Cancelled.into());
        }
        let opening = audio::recording(state, owner_id, &id, project.sample_rate_hz);
        if let Some(recording) = runtime.block_on(opening)? {
            recordings.insert(id, recording);
        }
    }
    Ok(recordings)
}
