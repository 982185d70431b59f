//! Compiles projects into sessions, and converts musical time to frames, for the page.

use std::collections::HashMap;

use dsp_core::effects::equalizer;
use dsp_core::gain;
use dsp_core::tempo::TempoMap;
use schemas::Project;
use schemas::session::{CompiledProject, MediaResolver, ResolvedAudio};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::memory;

/// A compiled project, ready to be sent to the audio thread.
#[wasm_bindgen]
pub struct CompiledSession {
    bytes: Vec<u8>,
    track_ids: Vec<String>,
    left_out: Vec<String>,
    length_frames: u64,
    sample_rate_hz: u32,
    tempo: TempoMap,
}

/// The engine's banks and audio files that a project is compiled for.
///
/// `bank_slots` is a JavaScript object that maps SoundFont ids to the numbers of the engine's bank
/// slots. Tracks whose bank is in no slot are silent. `audio` is an object that maps the service's
/// ids of audio files to objects. Each of these has the file's `slot`, its length in `frames` at
/// the engine's sample rate, and the file's own sample rate as `fileRateHz`. If `audio` is
/// undefined, the engine has no audio files. `plugin_outputs` is a list of objects that name the
/// recorded outputs of plugins: `trackId` (null for the master), `effectId` (null for the
/// instrument of the track), and the id of the audio as `audioId`. If it is undefined, plugin
/// effects pass their input, and plugin instruments are silent.
pub(crate) fn slot_contents(
    bank_slots: JsValue,
    default_slot: Option<u32>,
    audio: JsValue,
    plugin_outputs: JsValue,
) -> Result<SlotContents, JsError> {
    let bank_slots: HashMap<String, u32> = serde_wasm_bindgen::from_value(bank_slots).map_err(|error| {
        JsError::new(&format!("bank_slots must be an object that maps SoundFont ids to slots: {error}"))
    })?;
    let audio: Option<HashMap<String, AudioFile>> =
        serde_wasm_bindgen::from_value(audio).map_err(|error| {
            JsError::new(&format!("audio must be an object that maps ids to audio files: {error}"))
        })?;
    let plugin_outputs: Option<Vec<PluginOutput>> = serde_wasm_bindgen::from_value(plugin_outputs)
        .map_err(|error| JsError::new(&format!("plugin_outputs must be a list of outputs: {error}")))?;
    Ok(SlotContents {
        bank_slots,
        default_slot,
        audio: audio.unwrap_or_default(),
        plugin_outputs: plugin_outputs.unwrap_or_default(),
    })
}

/// Compiles a project into a session for an engine that runs at `sample_rate_hz`.
pub(crate) fn compile(
    project: &Project,
    sample_rate_hz: u32,
    mut slots: SlotContents,
) -> Result<CompiledSession, JsError> {
    let CompiledProject { session, left_out } =
        schemas::session::compile(project, sample_rate_hz, &mut slots)?;
    memory::check(&session, slots.audio.values().map(|file| (file.slot, file.frames)))?;
    Ok(CompiledSession {
        bytes: postcard::to_allocvec(&session)?,
        left_out: left_out.into_iter().map(|part| format!("{}: {}", part.pointer, part.reason)).collect(),
        track_ids: session.tracks.into_iter().map(|track| track.id).collect(),
        length_frames: session.length_frames,
        sample_rate_hz,
        tempo: schemas::session::tempo_map(project)?,
    })
}

/// Compiles a project from the service into a session for an engine that runs at `sample_rate_hz`.
///
/// A track without a bank uses the bank in `default_slot`. For the other arguments, see
/// `slot_contents` in the source. A page that compiles edits of a project one after the other uses
/// [`ProjectCompiler`](crate::project_compiler::ProjectCompiler).
///
/// # Errors
///
/// Returns a message with the reason why the project cannot be played.
#[wasm_bindgen(js_name = compileSession)]
pub fn compile_session(
    project: JsValue,
    bank_slots: JsValue,
    default_slot: Option<u32>,
    sample_rate_hz: u32,
    audio: JsValue,
    plugin_outputs: JsValue,
) -> Result<CompiledSession, JsError> {
    let project = read_project(project)?;
    compile(&project, sample_rate_hz, slot_contents(bank_slots, default_slot, audio, plugin_outputs)?)
}

/// An audio file in one of the engine's audio slots. Its length is at the engine's sample rate.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AudioFile {
    slot: u32,
    frames: u64,
    file_rate_hz: u32,
}

/// The recorded output of a plugin.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PluginOutput {
    /// Id of the track; `None` for the master.
    track_id: Option<String>,
    /// Id of the effect; `None` for the instrument of the track.
    effect_id: Option<String>,
    /// Id of the recorded audio in the engine's slots.
    audio_id: String,
}

/// The banks and audio files in the engine's slots, by the service's ids.
pub(crate) struct SlotContents {
    bank_slots: HashMap<String, u32>,
    default_slot: Option<u32>,
    audio: HashMap<String, AudioFile>,
    plugin_outputs: Vec<PluginOutput>,
}

impl MediaResolver for SlotContents {
    fn bank_slot(&mut self, soundfont_id: Option<&str>) -> Option<u32> {
        match soundfont_id {
            Some(id) => self.bank_slots.get(id).copied(),
            None => self.default_slot,
        }
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let AudioFile { slot, frames, file_rate_hz } = *self.audio.get(server_file_id)?;
        Some(ResolvedAudio { slot, frames, file_rate_hz })
    }

    fn plugin_output(&mut self, track_id: Option<&str>, effect_id: Option<&str>) -> Option<ResolvedAudio> {
        let is_of_plugin = |output: &&PluginOutput| {
            (output.track_id.as_deref(), output.effect_id.as_deref()) == (track_id, effect_id)
        };
        let audio_id = self.plugin_outputs.iter().find(is_of_plugin)?.audio_id.clone();
        self.audio(&audio_id)
    }
}

/// Returns the presets that each track can request from its SoundFont, one string for each track in
/// the order of the tracks. A string lists bank and program numbers, such as `0:0,128:0`. It is
/// empty for a track without a SoundFont. Notes are ignored and may be omitted.
///
/// # Errors
///
/// Returns a message with the reason why the project cannot be played.
#[wasm_bindgen(js_name = presetsUsed)]
pub fn presets_used(project: JsValue) -> Result<Vec<String>, JsError> {
    /// The presets do not depend on this sample rate.
    const SAMPLE_RATE_HZ: u32 = 48_000;
    let session = schemas::session::build(&read_project(project)?, SAMPLE_RATE_HZ, |_| Some(0))?;
    let text = |track: &dsp_core::session::Track| {
        let presets = schemas::session::track_presets(track);
        let pairs: Vec<String> = presets.iter().map(|(bank, program)| format!("{bank}:{program}")).collect();
        pairs.join(",")
    };
    Ok(session.tracks.iter().map(text).collect())
}

pub(crate) fn read_project(project: JsValue) -> Result<Project, JsError> {
    serde_wasm_bindgen::from_value(project)
        .map_err(|error| JsError::new(&format!("the document is not a project: {error}")))
}

#[wasm_bindgen]
impl CompiledSession {
    /// The bytes of the session, for
    /// [`WasmEngine::set_session`](crate::engine::WasmEngine::set_session).
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Ids of the tracks, in the engine's order of tracks.
    #[wasm_bindgen(getter, js_name = trackIds)]
    pub fn track_ids(&self) -> Vec<String> {
        self.track_ids.clone()
    }

    /// Parts of the project that the engine does not play. Each is a JSON pointer and a reason,
    /// such as `/tracks/0/effects/1: the engine cannot run plugins`.
    #[wasm_bindgen(getter, js_name = leftOut)]
    pub fn left_out(&self) -> Vec<String> {
        self.left_out.clone()
    }

    /// End of the last item, in frames from the start of the session.
    #[wasm_bindgen(getter, js_name = lengthFrames)]
    pub fn length_frames(&self) -> f64 {
        self.length_frames as f64
    }

    /// Returns the frame nearest to a tick; a negative tick counts as 0.
    #[wasm_bindgen(js_name = tickToFrame)]
    pub fn tick_to_frame(&self, tick: f64) -> f64 {
        self.tempo.frame_at(tick as u64, self.sample_rate_hz) as f64
    }

    /// Returns the tick at a frame; a negative frame counts as 0.
    #[wasm_bindgen(js_name = frameToTick)]
    pub fn frame_to_tick(&self, frame: f64) -> f64 {
        self.tempo.tick_at(frame as u64, self.sample_rate_hz) as f64
    }
}

/// Converts a level in decibels to a linear gain with the function that the engine uses.
#[wasm_bindgen(js_name = gainFromDb)]
pub fn gain_from_db(level_db: f64) -> f32 {
    gain::from_db(level_db)
}

/// Returns the magnitude response of the built-in equalizer in decibels at each of
/// `frequencies_hz`.
///
/// `values` are the equalizer's parameters in the order of its parameter table, each within its
/// range. Frequencies above 0.499 of the sample rate are lowered to that limit.
#[wasm_bindgen(js_name = equalizerResponse)]
pub fn equalizer_response(values: &[f64], frequencies_hz: &[f64], sample_rate_hz: f64) -> Vec<f64> {
    let highest_hz = 0.499 * sample_rate_hz;
    let response =
        |frequency_hz: &f64| equalizer::response_db(values, frequency_hz.min(highest_hz), sample_rate_hz);
    frequencies_hz.iter().map(response).collect()
}
