//! Renders the plugin instruments and plugin effects of a project for exports and for the page.
//!
//! Each sound is stored, and used again while nothing that determines it changes. So playback in
//! the page and an export have the same samples, even of plugins that never sound the same twice.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dsp_core::render::SessionBeforeEffect;
use dsp_core::session::{Audio, Session};
use dsp_core::wav::FLOAT_HEADER_BYTES;
use schemas::project::{Effect, PluginEngine};
use serde::Serialize;
use serde_json::Value;
use songfoundry_bridge_protocol::PluginFormat;
use tokio::runtime::Handle;

use super::client::Client;
use super::plugin_sound_files as files;
use crate::error::ApiResult;
use crate::plugin_hosts::PluginRef;
use crate::plugins::module_version;
use crate::rendering::budget::Reservation;
use crate::rendering::plugin_effects::PluginEffectPart;
use crate::rendering::plugin_track::{
    AUTOMATION_VERSION, AutomationCurve, OpenInput, PluginSetup, PluginTrack, SILENT_MAGNITUDE, StartState,
    TimeSignatureChange, UnknownParameters,
};
use crate::rendering::sources::{PluginPart, PluginSound};
use crate::rendering::{CHANNELS, Observer, RenderError, memory};
use crate::state::AppState;
use crate::storage::{BlobKey, RoomChecked, sha256_of_json};

/// The plugins that the owner of an export may use.
#[derive(Clone, Copy)]
pub(super) struct PluginSounds<'a> {
    pub(super) state: &'a AppState,
    /// Runtime for queries of the database, because tasks run on threads outside of it.
    pub(super) runtime: &'a Handle,
    pub(super) owner_id: &'a str,
    pub(super) client: Client<'a>,
    pub(super) may_use_plugins: bool,
    /// Start of the export. Sounds that it uses are not deleted while it runs.
    pub(super) started_at: SystemTime,
}

/// Everything that determines the sound of a plugin.
#[derive(Serialize)]
struct SoundInputs<'i> {
    module: &'i Path,
    module_version: &'i str,
    plugin_id: &'i str,
    state: Option<&'i str>,
    values: &'i [(String, f64)],
    curves: &'i [AutomationCurve],
    /// [`AUTOMATION_VERSION`] if there is automation.
    #[serde(skip_serializing_if = "Option::is_none")]
    automation_version: Option<u32>,
    /// The notes of an instrument, or the part of the song that precedes an effect.
    session: &'i Session,
    /// The time signatures that the plugin gets.
    time_signatures: &'i [TimeSignatureChange],
    /// Index of the track of the session that feeds the side-chain of an effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    side_chain: Option<u32>,
    /// Versions of the banks and the audio of the session.
    slot_versions: [&'i [String]; 2],
    tail_secs: f64,
}

/// The values of parameters in a project.
enum Params<'s> {
    Instrument(&'s BTreeMap<String, f64>),
    Effect(&'s Effect),
}

/// A plugin that can be used.
struct UsablePlugin {
    plugin: PluginRef,
    name: String,
    module_version: String,
}

/// A sound to render.
struct Sound<'s> {
    format: PluginFormat,
    plugin_id: &'s str,
    /// State of the plugin in base64.
    state: Option<&'s str>,
    params: Params<'s>,
    curves: &'s [AutomationCurve],
    /// The inputs that determine the sound.
    session: &'s Session,
    /// Index of the track of `session` that feeds the side-chain.
    side_chain: Option<u32>,
    slot_versions: [&'s [String]; 2],
    /// The session that the plugin plays, or that times the input.
    played: &'s Session,
    time_signatures: &'s [TimeSignatureChange],
    input: Option<OpenInput<'s>>,
    reservation: &'s Reservation,
}

impl Sound<'_> {
    /// Returns the time signatures that the plugin gets: those before the end of the notes or of
    /// the song. The last of them also applies to the tail, so that an edit after the end does not
    /// change the sound.
    fn time_signatures(&self) -> &[TimeSignatureChange] {
        let end_frame = self.played.length_frames;
        let count = self.time_signatures.partition_point(|change| change.frame < end_frame);
        &self.time_signatures[..count]
    }
}

impl PluginSounds<'_> {
    /// Renders the notes of a track with its plugin. Blocks.
    ///
    /// # Errors
    /// The plugin fails, its state is invalid, the disk is full, or the export is cancelled.
    pub(super) fn instrument(
        &self,
        part: &PluginPart<'_>,
        time_signatures: &[TimeSignatureChange],
        observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        let PluginEngine { plugin_id, state, params, .. } = part.engine;
        let sound = Sound {
            format: part.format,
            plugin_id,
            state: state.as_deref(),
            params: Params::Instrument(params),
            curves: &part.automation,
            session: &part.session,
            side_chain: None,
            slot_versions: [&[], &[]],
            played: &part.session,
            time_signatures,
            input: None,
            reservation: part.reservation,
        };
        self.sound(&sound, observer)
    }

    /// Processes the input of an effect with its plugin. Blocks.
    ///
    /// # Errors
    /// Those of [`Self::instrument`].
    pub(super) fn effect(
        &self,
        part: &PluginEffectPart<'_>,
        time_signatures: &[TimeSignatureChange],
        observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        let Some(plugin_id) = &part.effect.plugin_id else {
            return Ok(PluginSound::Missing { reason: "the project names no plugin".to_owned() });
        };
        let SessionBeforeEffect { session: before, side_chain } = &part.before;
        let played = Session {
            sample_rate_hz: before.sample_rate_hz,
            tempo: before.tempo.clone(),
            length_frames: before.length_frames,
            ..Session::default()
        };
        let open_input = || -> Result<_, RenderError> { Ok(part.input(self.tail_secs())?) };
        let sound = Sound {
            format: part.format,
            plugin_id,
            state: part.effect.state.as_deref(),
            params: Params::Effect(part.effect),
            curves: part.curves,
            session: before,
            side_chain: *side_chain,
            slot_versions: part.slot_versions.each_ref().map(Vec::as_slice),
            played: &played,
            time_signatures,
            input: Some(&open_input),
            reservation: part.reservation,
        };
        self.sound(&sound, observer)
    }

    fn tail_secs(&self) -> f64 {
        self.state.config.limits.tail_max_secs as f64
    }

    /// Returns the stored sound, or renders and stores it.
    fn sound(&self, sound: &Sound<'_>, observer: Observer<'_>) -> Result<PluginSound, RenderError> {
        let usable = match self.plugin(sound.format, sound.plugin_id)? {
            Ok(scanned_plugin) => scanned_plugin,
            Err(reason) => return Ok(PluginSound::Missing { reason }),
        };
        let values = sound.params.values()?;
        let UsablePlugin { plugin, module_version, .. } = &usable;
        let inputs = SoundInputs {
            module: &plugin.module,
            module_version,
            plugin_id: &plugin.plugin_id,
            state: sound.state,
            values: &values,
            curves: sound.curves,
            automation_version: (!sound.curves.is_empty()).then_some(AUTOMATION_VERSION),
            session: sound.session,
            time_signatures: sound.time_signatures(),
            side_chain: sound.side_chain,
            slot_versions: sound.slot_versions,
            tail_secs: self.tail_secs(),
        };
        let version = sha256_of_json(&inputs).map_err(io::Error::other)?;
        let key = files::key(self.owner_id, &version).map_err(io::Error::other)?;
        let file = match files::find(&self.state.blobs, &key)? {
            Some(file) => file,
            None => self.render(sound, &usable, values, &key, observer)?,
        };
        let warnings = files::warnings(&self.state.blobs, &key)?;
        let bytes = memory::map_file(&file)?;
        let samples = FLOAT_HEADER_BYTES as usize..(*bytes).as_ref().len();
        let is_silent = !(*bytes).as_ref().get(samples.clone()).is_some_and(has_sound);
        let audio = Audio::from_shared(bytes, samples, CHANNELS as u16).map_err(io::Error::other)?;
        Ok(PluginSound::Rendered { audio, version, is_silent, warnings })
    }

    /// Renders a sound, and stores it by its key.
    fn render(
        &self,
        sound: &Sound<'_>,
        UsablePlugin { plugin, name, .. }: &UsablePlugin,
        values: Vec<(String, f64)>,
        key: &BlobKey,
        observer: Observer<'_>,
    ) -> Result<File, RenderError> {
        let start = match sound.state {
            Some(state) => StartState::State(
                BASE64_STANDARD.decode(state).map_err(|error| invalid_state(plugin, &error))?,
            ),
            None => StartState::New,
        };
        let setup = PluginSetup {
            start,
            values,
            curves: sound.curves.to_vec(),
            unknown_parameters: UnknownParameters::Ignore,
        };
        let is_cancelled = || !self.client.is_waiting();
        let hosts = &self.state.plugin_hosts;
        let track = PluginTrack {
            hosts,
            plugin,
            setup: &setup,
            session: sound.played,
            time_signatures: sound.time_signatures(),
            input: sound.input,
            tail_secs: self.tail_secs(),
            is_cancelled: &is_cancelled,
        };
        let _runtime = self.runtime.enter();
        let new_file = || Ok(RoomChecked::new(self.state, self.state.blobs.unnamed_writer(files::FOLDER)?));
        let render = || track.render(sound.reservation, new_file, observer);
        let render_result = hosts.run(self.runtime, self.owner_id, &is_cancelled, render)?;
        let (writer, track) = render_result.map_err(|error| match error {
            RenderError::Plugin(source) => RenderError::SongPlugin {
                plugin_name: name.clone(),
                plugin_id: plugin.plugin_id.clone(),
                source,
            },
            other_error => other_error,
        })?;
        let file = files::store(&self.state.blobs, key, writer.into_inner(), &track.warnings())?;
        files::keep_newest(self.state, self.owner_id, key, self.started_at)?;
        Ok(file)
    }

    /// Returns a plugin, or the reason why it cannot be used, as a clause without a capital letter
    /// and a full stop.
    fn plugin(&self, format: PluginFormat, id: &str) -> Result<Result<UsablePlugin, String>, RenderError> {
        if !self.may_use_plugins {
            return Ok(Err("the account may not use plugins".to_owned()));
        }
        let scanned_plugin: ApiResult<_> =
            self.runtime.block_on(self.state.plugins.find_scanned(self.owner_id, id));
        let Some(scanned_plugin) = scanned_plugin
            .map_err(io::Error::other)?
            .filter(|scanned_plugin| scanned_plugin.format == format)
        else {
            return Ok(Err(format!("no scan of the plugin folders found the plugin {id}")));
        };
        if let Err(error) = self.runtime.block_on(self.state.plugin_hosts.check_format(scanned_plugin.format))
        {
            return Ok(Err(error.to_string()));
        }
        if !scanned_plugin.module.exists() {
            return Ok(Err(format!(
                "its file {} is missing; scan the plugin folders again",
                scanned_plugin.module.display()
            )));
        }
        let module_version = module_version(&scanned_plugin.module);
        let name = scanned_plugin.plugin.name.clone();
        Ok(Ok(UsablePlugin { plugin: scanned_plugin.into(), name, module_version }))
    }
}

/// Whether any of these samples, which are 32-bit floats, is audible.
fn has_sound(samples: &[u8]) -> bool {
    samples.as_chunks().0.iter().any(|sample| f32::from_le_bytes(*sample).abs() > SILENT_MAGNITUDE)
}

impl Params<'_> {
    /// Returns the values by the ids of the parameters, limited to 0 to 1.
    fn values(&self) -> Result<Vec<(String, f64)>, RenderError> {
        let limited = |id: &String, value: f64| (id.clone(), value.clamp(0.0, 1.0));
        let effect = match self {
            Self::Instrument(params) => {
                return Ok(params.iter().map(|(id, value)| limited(id, *value)).collect());
            }
            Self::Effect(effect) => effect,
        };
        let number = |(id, value): (&String, &Value)| match value.as_f64() {
            Some(value) => Ok(limited(id, value)),
            None => Err(RenderError::PluginSetup {
                code: "bad_plugin_parameter",
                detail: format!("The parameter `{id}` of the effect `{}` is not a number.", effect.id),
            }),
        };
        effect.params.iter().map(number).collect()
    }
}

fn invalid_state(plugin: &PluginRef, error: &base64::DecodeError) -> RenderError {
    RenderError::PluginSetup {
        code: "bad_state",
        detail: format!("The state of the plugin {} is not valid base64: {error}.", plugin.plugin_id),
    }
}
