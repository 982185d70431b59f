//! Plays the plugin instruments of a project for an export.

use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dsp_core::session::Audio;
use dsp_core::wav::FLOAT_HEADER_BYTES;
use tokio::runtime::Handle;

use super::client::Client;
use crate::error::ApiResult;
use crate::plugin_hosts::PluginRef;
use crate::rendering::plugin_track::{PluginSetup, PluginTrack, StartState};
use crate::rendering::sources::{PluginPart, PluginSound};
use crate::rendering::workspace::Workspace;
use crate::rendering::{CHANNELS, Observer, RenderError, memory};
use crate::state::AppState;

/// The plugins that the owner of an export may use.
#[derive(Clone, Copy)]
pub(super) struct PluginInstruments<'a> {
    pub(super) state: &'a AppState,
    /// Runtime for queries of the database, because tasks run on threads outside of it.
    pub(super) runtime: &'a Handle,
    pub(super) owner_id: &'a str,
    pub(super) client: Client<'a>,
    pub(super) may_use_plugins: bool,
}

impl PluginInstruments<'_> {
    /// Renders the notes of a track with its plugin to a temporary file. Blocks.
    ///
    /// # Errors
    /// The plugin fails, its state is invalid, the disk is full, or the export is cancelled.
    pub(super) fn sound(
        &self,
        part: &PluginPart<'_>,
        workspace: &mut dyn Workspace,
        observer: Observer<'_>,
    ) -> Result<PluginSound, RenderError> {
        let plugin = match self.plugin(part)? {
            Ok(plugin) => plugin,
            Err(reason) => return Ok(PluginSound::Missing { reason }),
        };
        let start = match &part.engine.state {
            Some(state) => StartState::State(
                BASE64_STANDARD.decode(state).map_err(|error| invalid_state(&plugin, &error))?,
            ),
            None => StartState::New,
        };
        let values = part.engine.params.iter().map(|(id, value)| (id.clone(), *value)).collect();
        let setup = PluginSetup { start, values, curves: part.automation.clone() };
        let is_cancelled = || !self.client.is_waiting();
        let hosts = &self.state.plugin_hosts;
        let track = PluginTrack {
            hosts,
            plugin: &plugin,
            setup: &setup,
            session: &part.session,
            tail_secs: self.state.config.limits.tail_max_secs as f64,
            is_cancelled: &is_cancelled,
        };
        workspace.ensure_room(track.max_file_bytes())?;
        let render = || track.render(part.reservation, || workspace.temporary_file(), observer);
        let (file, _) = hosts.run(self.runtime, self.owner_id, &is_cancelled, render)??;
        let bytes = memory::map_file(&file)?;
        let samples = FLOAT_HEADER_BYTES as usize..(*bytes).as_ref().len();
        let audio = Audio::from_shared(bytes, samples, CHANNELS as u16).map_err(io::Error::other)?;
        Ok(PluginSound::Rendered(audio))
    }

    /// Returns the plugin of a track, or the reason why it cannot be used, as a sentence without a
    /// capital and a full stop.
    fn plugin(&self, part: &PluginPart<'_>) -> Result<Result<PluginRef, String>, RenderError> {
        if !self.may_use_plugins {
            return Ok(Err("the account may not use plugins".to_owned()));
        }
        let id = &part.engine.plugin_id;
        let found: ApiResult<_> = self.runtime.block_on(self.state.plugins.find_scanned(self.owner_id, id));
        let Some(found) = found.map_err(io::Error::other)?.filter(|found| found.format == part.format) else {
            return Ok(Err(format!("no scan of the plugin folders found the plugin {id}")));
        };
        if let Err(error) = self.runtime.block_on(self.state.plugin_hosts.check_format(found.format)) {
            return Ok(Err(error.to_string()));
        }
        Ok(Ok(PluginRef { module: found.module, format: found.format, plugin_id: found.plugin.plugin_id }))
    }
}

fn invalid_state(plugin: &PluginRef, error: &base64::DecodeError) -> RenderError {
    RenderError::PluginSetup {
        code: "bad_state",
        detail: format!("The state of the plugin {} is not valid base64: {error}.", plugin.plugin_id),
    }
}
