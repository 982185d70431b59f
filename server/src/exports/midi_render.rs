//! Handler of `POST /plugins/midi-render`, which renders notes with a plugin, before any fader.

use std::fs::File;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use dsp_core::mixer::Slots;
use schemas::Project;
use schemas::json::JsonText;
use songfoundry_bridge_protocol::PluginKind;
use tokio::runtime::Handle;

use super::notes::{Notes, SAMPLE_RATE_DEFAULT_HZ, TimeBase, empty_list};
use super::plugin_options::{PluginAutomation, PluginOptions, PointClock, plugin_request};
use super::request::checked_tail;
use super::sound_options::{checked_rate, rate_choices};
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{JsonBytes, LongFields, parse_long};
use crate::large_answer;
use crate::permits::Caller;
use crate::plugin_hosts::{HostProblems, PluginRef};
use crate::projects::{ProjectControl, ProjectNote, ProjectTempo};
use crate::rendering::plugin_track::{PluginSetup, PluginTrack, RenderedTrack};
use crate::rendering::{RenderError, check_length};
use crate::state::AppState;
use crate::storage::RoomChecked;

/// Header that lists faults of the sound.
const WARNINGS: HeaderName = HeaderName::from_static("x-plugin-warnings");

/// Audio format of the answer.
const FORMAT: AudioFormat = AudioFormat::Wav;

plugin_request! {
    /// Notes, and the plugin to play them with.
    pub(super) struct MidiRenderRequest {
        /// Id of an instrument of `GET /plugins/available`.
        plugin_id: String,
        /// Notes, as in a MIDI item of a project.
        #[schema(value_type = Vec<ProjectNote>)]
        notes: JsonText,
        /// Controls, as in a MIDI item of a project.
        #[serde(default = "empty_list")]
        #[schema(value_type = Vec<ProjectControl>)]
        controls: JsonText,
        /// Automation of at most 10,000 parameters, with at most 200,000 points.
        #[schema(value_type = Vec<PluginAutomation>, required = false, max_items = 10000)]
        automation: Option<JsonText>,
        /// Tempo changes as in a project; by default 120 quarter notes per minute.
        #[schema(value_type = Vec<ProjectTempo>, required = false)]
        tempo_map: Option<JsonText>,
        /// Unit of the times. With `seconds`, the plugin gets a tempo of 120 quarter notes per
        /// minute.
        #[serde(default)]
        time_base: TimeBase,
        /// 44100, 48000 (the default) or 96000 Hz.
        #[schema(schema_with = rate_choices)]
        sample_rate_hz: Option<u32>,
        /// Maximum tail after the last note, in seconds. The default is the maximum that the
        /// service allows. The tail ends earlier after half a second below -100 dBFS.
        tail_secs: Option<f64>,
    }
}

impl LongFields for MidiRenderRequest {
    const NAMES: &'static [&'static str] = &["notes", "controls", "tempo_map", "automation"];
}

/// A checked request.
struct MidiRender {
    plugin_id: String,
    project: Project,
    setup: PluginSetup,
    time_base: TimeBase,
    sample_rate_hz: u32,
    tail_secs: f64,
}

/// Renders notes with a VST instrument to a 32-bit float WAV file. The plugin runs in a separate
/// process. The file begins at the start of the song, because the plugin's latency is removed. If
/// the plugin crashes, or if the file is silent although there are notes, the render is repeated
/// once in a new process.
#[utoipa::path(post, path = "/plugins/midi-render", tag = "plugins", request_body = MidiRenderRequest,
    responses((status = 200, description = "The sound", content_type = FORMAT.media_type(), headers(
            ("X-Plugin-Warnings" = String, description = "`silent` if the file is silent although there are notes, and \
             `non_finite_samples=N` if the plugin produced samples that are infinite or not a number, which are 0 in the file; empty \
             if there are none"))),
        HostProblems,
        (status = 422, description = "`not_an_instrument`, `plugin_refused`, `bad_state`, `bad_preset`, `bad_plugin_parameter`, \
         `bad_automation`, `too_many_events`, `too_long`, `too_much_memory` or `too_much_work`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    state.plugin_hosts.formats().await?;
    let (runtime, work_state, body_kib) = (Handle::current(), state.clone(), body.len() as u64 / 1024);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| -> ApiResult<_> {
        // The body is parsed after the wait, so that waiting requests keep only their bodies in
        // memory.
        let request: MidiRenderRequest = parse_long(body)?;
        let request = request.check(work_state.config.limits.tail_max_secs)?;
        let plugin = runtime.block_on(instrument(&work_state, &user, &request.plugin_id))?;
        let (file, track) = render_file(&work_state, &runtime, &user.id, caller, &request, &plugin)?;
        Ok((large_answer::sound(&work_state, &user.id, FORMAT.media_type(), file)?, track))
    };
    let (mut response, track) = state.exports.renders.run_for(&owner_id, body_kib, work).await?;
    response.headers_mut().insert(WARNINGS, warnings(track)?);
    Ok(response)
}

impl MidiRenderRequest {
    fn check(self, tail_max_secs: u64) -> ApiResult<MidiRender> {
        let sample_rate_hz = checked_rate(FORMAT, self.sample_rate_hz.unwrap_or(SAMPLE_RATE_DEFAULT_HZ))?;
        let tail_secs = checked_tail(self.tail_secs, f64::INFINITY, tail_max_secs)?;
        let Self { notes, controls, tempo_map, time_base, .. } = self;
        let notes = Notes { notes, controls, tempo_map, time_base, synth_engine: None, settings: None };
        let project = notes.into_project()?;
        let tempo = schemas::session::tempo_map(&project).map_err(RenderError::from)?;
        let Self { plugin_id, state, preset, params, automation, .. } = self;
        let options = PluginOptions { state, preset, params, automation };
        let setup = options.check(&PointClock { time_base, tempo: &tempo, sample_rate_hz })?;
        Ok(MidiRender { plugin_id, project, setup, time_base, sample_rate_hz, tail_secs })
    }
}

/// Returns the instrument with this id that the user may use.
async fn instrument(state: &AppState, user: &CurrentUser, plugin_id: &str) -> ApiResult<PluginRef> {
    let scanned_plugin = state.plugins.find(user, plugin_id).await?;
    if scanned_plugin.plugin.kind != PluginKind::Instrument {
        return Err(ApiError::Unprocessable {
            code: "not_an_instrument",
            detail: format!(
                "The plugin `{}` is not an instrument; name an instrument of GET /plugins/available.",
                scanned_plugin.plugin.name
            ),
        });
    }
    state.plugin_hosts.check_format(scanned_plugin.format).await?;
    Ok(scanned_plugin.into())
}

/// Renders the file. Reserves memory before it waits for a permit to run the plugin, as other
/// renders do.
fn render_file(
    state: &AppState,
    runtime: &Handle,
    user_id: &str,
    caller: &Caller,
    request: &MidiRender,
    plugin: &PluginRef,
) -> ApiResult<(File, RenderedTrack)> {
    let session = schemas::session::build(&request.project, request.sample_rate_hz, |_| None);
    let mut session = session.map_err(RenderError::from)?;
    check_length(&session)?;
    if request.time_base == TimeBase::Seconds {
        // This tempo only served to convert seconds to ticks. The plugin gets the default tempo.
        session.tempo.clear();
    }
    let mut observer = |_| !caller.has_disconnected();
    let budget = state.exports.budget.share_of(user_id);
    let reservation = budget.reserve(&session, Slots::default(), &mut observer)?;
    let is_cancelled = || caller.has_disconnected();
    let track = PluginTrack {
        hosts: &state.plugin_hosts,
        plugin,
        setup: &request.setup,
        session: &session,
        time_signatures: &[],
        input: None,
        tail_secs: request.tail_secs,
        is_cancelled: &is_cancelled,
    };
    // The file is unnamed, so the operating system deletes it once the answer has been sent.
    let new_file = || Ok(RoomChecked::new(state, tempfile::tempfile_in(&state.config.storage.dir)?));
    let render = || track.render(&reservation, new_file, &mut observer);
    let (file, track) = state.plugin_hosts.run(runtime, user_id, &is_cancelled, render)??;
    Ok((file.into_inner(), track))
}

/// Returns the value of the response header [`WARNINGS`].
fn warnings(track: RenderedTrack) -> ApiResult<HeaderValue> {
    let silence_warning = track.is_silent.then(|| "silent".to_owned());
    let non_finite =
        (track.non_finite_samples > 0).then(|| format!("non_finite_samples={}", track.non_finite_samples));
    let texts: Vec<_> = silence_warning.into_iter().chain(non_finite).collect();
    HeaderValue::from_str(&texts.join(", ")).map_err(ApiError::internal)
}
