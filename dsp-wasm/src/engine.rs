//! The engine on the audio thread: banks, audio, a mixer, and buffers that JavaScript reads and
//! writes.

use std::sync::Arc;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::meters::MasterMeter;
use dsp_core::mixer::{Mixer, Slots, Underruns};
use dsp_core::session::{Audio, AudioSlot, Session};
use dsp_core::soundfont::Bank;
use wasm_bindgen::prelude::*;

use crate::incoming_files::IncomingFiles;
use crate::messages::{EffectName, MasterMeters, WantedAudio};

/// Number of bank slots.
const MAX_BANKS: usize = 64;

/// Number of audio slots.
const MAX_AUDIO: usize = 4096;

/// Plays sessions. Audio passes through buffers in the memory of this module, whose addresses are
/// fixed: nothing is allocated during playback.
#[wasm_bindgen]
pub struct WasmEngine {
    banks: Vec<Option<Bank>>,
    audio: Vec<Option<AudioSlot>>,
    pub(crate) sample_rate_hz: u32,
    pub(crate) mixer: Mixer,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
    peaks: Vec<f32>,
    underruns: Underruns,
    /// Present while the page shows the meters.
    pub(crate) meter: Option<Box<MasterMeter>>,
    /// Effects whose gain reductions are reported.
    pub(crate) watched: Vec<EffectName>,
    incoming_banks: IncomingFiles,
    incoming_audio: IncomingFiles,
}

#[wasm_bindgen]
impl WasmEngine {
    /// An engine without banks or tracks.
    ///
    /// # Errors
    ///
    /// A message if the sample rate cannot be played.
    #[wasm_bindgen(constructor)]
    pub fn new(sample_rate_hz: u32) -> Result<WasmEngine, JsError> {
        let session = Session { sample_rate_hz, ..Session::default() };
        Ok(Self {
            banks: Vec::new(),
            audio: Vec::new(),
            mixer: Mixer::new(&session, &[])?,
            sample_rate_hz,
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
            peaks: vec![0.0; 2],
            underruns: Underruns::default(),
            meter: None,
            watched: Vec::new(),
            incoming_banks: IncomingFiles::new("the sound bank"),
            incoming_audio: IncomingFiles::new("the audio"),
        })
    }

    /// Loads a bank from the bytes of an SF2 file into a slot below 64. Tracks of that slot become
    /// audible. The engine keeps the bytes.
    ///
    /// # Errors
    ///
    /// A message that names the fault of the bank.
    #[wasm_bindgen(js_name = loadBank)]
    pub fn load_bank(&mut self, slot: usize, file: Vec<u8>) -> Result<(), JsError> {
        check_slot(slot)?;
        let bank = Bank::from_vec(file)?;
        if self.banks.len() <= slot {
            self.banks.resize(slot + 1, None);
        }
        self.banks[slot] = Some(bank);
        self.update_slots()
    }

    /// Begins to receive a bank's file of `size_bytes` bytes in pieces: [`Self::add_to_bank`]
    /// appends one, and [`Self::end_bank`] loads the file. Replaces an unfinished file for the
    /// slot.
    ///
    /// # Errors
    ///
    /// A message if the slot does not exist, or there is not enough memory.
    #[wasm_bindgen(js_name = beginBank)]
    pub fn begin_bank(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_slot(slot)?;
        self.incoming_banks.begin(slot, size_bytes)
    }

    /// Appends the next piece of a bank's file. Pieces of 64 KiB do not interrupt playback.
    ///
    /// # Errors
    ///
    /// A message if no bank was begun for the slot, or the file is larger than announced; it is
    /// then removed.
    #[wasm_bindgen(js_name = addToBank)]
    pub fn add_to_bank(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.incoming_banks.add(slot, piece)
    }

    /// Loads a bank whose file has arrived; see [`Self::load_bank`].
    ///
    /// # Errors
    ///
    /// A message if the file is incomplete, or that names the fault of the bank.
    #[wasm_bindgen(js_name = endBank)]
    pub fn end_bank(&mut self, slot: usize) -> Result<(), JsError> {
        let file = self.incoming_banks.end(slot)?;
        self.load_bank(slot, file)
    }

    /// Begins to receive an audio file of `size_bytes` bytes as a whole, for a slot below 4096: for
    /// clips, or an impulse response. [`Self::add_to_audio`] appends a piece, and
    /// [`Self::end_audio`] makes the file audible. Replaces an unfinished file for the slot; the
    /// audio that the slot holds remains audible until then.
    ///
    /// # Errors
    ///
    /// A message if the slot does not exist, or there is not enough memory.
    #[wasm_bindgen(js_name = beginAudio)]
    pub fn begin_audio(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.incoming_audio.begin(slot, size_bytes)
    }

    /// Appends the next piece of an audio file: little-endian 32-bit floats at the engine's sample
    /// rate, channels interleaved. See [`Self::add_to_bank`].
    ///
    /// # Errors
    ///
    /// A message if no file was begun for the slot, or it is larger than announced; it is then
    /// removed.
    #[wasm_bindgen(js_name = addToAudio)]
    pub fn add_to_audio(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.incoming_audio.add(slot, piece)
    }

    /// Makes a received audio file of one or two channels audible.
    ///
    /// # Errors
    ///
    /// A message if the file is incomplete, or has another number of channels.
    #[wasm_bindgen(js_name = endAudio)]
    pub fn end_audio(&mut self, slot: usize, channels: u16) -> Result<(), JsError> {
        let bytes = self.incoming_audio.end(slot)?;
        let data = 0..bytes.len();
        self.set_audio(slot, Some(AudioSlot::Whole(Audio::from_shared(Arc::new(bytes), data, channels)?)))
    }

    /// Makes a slot below 4096 hold streamed audio of `frames` frames: see [`Self::wanted_audio`].
    /// Removes an unfinished file for the slot.
    ///
    /// # Errors
    ///
    /// A message if the slot does not exist.
    #[wasm_bindgen(js_name = streamAudio)]
    pub fn stream_audio(&mut self, slot: usize, frames: f64) -> Result<(), JsError> {
        self.set_audio(slot, Some(AudioSlot::Streamed { frames: frames as u64 }))
    }

    pub(crate) fn set_audio(&mut self, slot: usize, audio: Option<AudioSlot>) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.incoming_audio.remove(slot);
        if self.audio.len() <= slot {
            self.audio.resize(slot + 1, None);
        }
        self.audio[slot] = audio;
        self.update_slots()
    }

    pub(crate) fn drop_bank(&mut self, slot: usize) -> Result<(), JsError> {
        self.incoming_banks.remove(slot);
        match self.banks.get_mut(slot) {
            Some(bank) => *bank = None,
            None => return Ok(()),
        }
        self.update_slots()
    }

    /// Applies a change of the banks and audio in the slots.
    fn update_slots(&mut self) -> Result<(), JsError> {
        let slots = Slots { banks: &self.banks, audio: &self.audio };
        Ok(self.mixer.set_slots(slots)?)
    }

    /// The blocks of streamed audio that clips need, in no order. A block is listed until
    /// [`Self::fill_audio`] delivers it.
    ///
    /// # Errors
    ///
    /// Never: numbers and texts always have a counterpart in JavaScript.
    #[wasm_bindgen(js_name = wantedAudio, unchecked_return_type = "WantedAudio[]")]
    pub fn wanted_audio(&self) -> Result<JsValue, JsError> {
        let wanted = self.mixer.wanted_audio().filter_map(|wanted| {
            Some(WantedAudio {
                track_id: self.mixer.track_id(wanted.track)?.to_owned(),
                clip: wanted.clip,
                slot: wanted.audio_slot,
                source_frame: wanted.source_frame,
                frames: wanted.frames,
                ahead_frames: wanted.ahead_frames,
            })
        });
        Ok(serde_wasm_bindgen::to_value(&wanted.collect::<Vec<_>>())?)
    }

    /// Delivers a block of streamed audio, which may be shorter than wanted; slot and frame as in
    /// [`Self::wanted_audio`]. Audio that no clip needs any longer is ignored.
    #[wasm_bindgen(js_name = fillAudio)]
    pub fn fill_audio(&mut self, slot: u32, source_frame: f64, left: &[f32], right: &[f32]) {
        self.mixer.fill_audio(slot, source_frame as u64, [left, right]);
    }

    /// Number of interruptions because streamed audio was late, since the engine was created.
    #[wasm_bindgen(js_name = audioUnderruns)]
    pub fn audio_underruns(&mut self) -> f64 {
        let Underruns { events, frames } = self.mixer.take_underruns();
        self.underruns.events += events;
        self.underruns.frames += frames;
        self.underruns.events as f64
    }

    /// Continues with a session that [`compile_session`](crate::compile::compile_session) made.
    ///
    /// # Errors
    ///
    /// A message if the bytes are not a session, or it cannot be played; the engine then continues
    /// with the old one.
    #[wasm_bindgen(js_name = setSession)]
    pub fn set_session(&mut self, bytes: &[u8]) -> Result<(), JsError> {
        let session: Session = postcard::from_bytes(bytes)?;
        self.mixer.set_session(&session, Slots { banks: &self.banks, audio: &self.audio })?;
        self.peaks = vec![0.0; 2 * session.tracks.len() + 2];
        Ok(())
    }

    /// Resets the meters when the session plays from its start.
    pub(crate) fn reset_meters_at_start(&mut self) {
        if self.mixer.is_playing() && self.mixer.position() == 0 {
            self.meter.iter_mut().for_each(|meter| meter.reset());
        }
    }

    /// Frames from the start of the session to the next frame that enters the mix.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.mixer.position() as f64
    }

    /// Whether the session plays.
    #[wasm_bindgen(getter)]
    pub fn playing(&self) -> bool {
        self.mixer.is_playing()
    }

    /// Latency of the output in frames.
    #[wasm_bindgen(getter, js_name = latencyFrames)]
    pub fn latency_frames(&self) -> usize {
        self.mixer.latency_frames()
    }

    /// Lets these tracks play their input buffers instead of their notes, and all others their
    /// notes.
    #[wasm_bindgen(js_name = setExternalInputs)]
    pub fn set_external_inputs(&mut self, track_ids: Vec<String>) {
        for track in 0..self.mixer.track_count() {
            let takes_input =
                self.mixer.track_id(track).is_some_and(|id| track_ids.iter().any(|input_id| input_id == id));
            self.mixer.set_takes_input(track, takes_input);
        }
    }

    /// Address of a track's four contiguous input buffers of 256 floats: left, right, reverb send
    /// and chorus send. The caller fills them before each [`Self::process`]. 0 for a track without
    /// external input.
    #[wasm_bindgen(js_name = trackInput)]
    pub fn track_input(&mut self, track_id: &str) -> *const f32 {
        let track = self.mixer.track_index(track_id);
        let input = track.and_then(|track| self.mixer.track_input(track));
        input.map_or(std::ptr::null(), |input| input.as_ptr().cast())
    }

    /// Address of the left output buffer of 256 floats.
    #[wasm_bindgen(js_name = outputLeft)]
    pub fn output_left(&self) -> *const f32 {
        self.left.as_ptr()
    }

    /// Address of the right output buffer of 256 floats.
    #[wasm_bindgen(js_name = outputRight)]
    pub fn output_right(&self) -> *const f32 {
        self.right.as_ptr()
    }

    /// Renders the next frames, at most 256, into the output buffers.
    pub fn process(&mut self, frames: usize) {
        let frames = frames.min(BLOCK_FRAMES);
        self.mixer.process(&mut self.left[..frames], &mut self.right[..frames]);
        if let Some(meter) = &mut self.meter {
            meter.process([&self.left[..frames], &self.right[..frames]], self.mixer.is_playing());
        }
    }

    /// The measurements of the master; undefined while it is not measured.
    ///
    /// # Errors
    ///
    /// Never: numbers always have a counterpart in JavaScript.
    #[wasm_bindgen(js_name = masterMeters, unchecked_return_type = "MasterMeters | undefined")]
    pub fn master_meters(&self) -> Result<JsValue, JsError> {
        let meters = self.meter.as_ref().map(|meter| MasterMeters::from(meter.read()));
        Ok(serde_wasm_bindgen::to_value(&meters)?)
    }

    /// The gain reductions of the watched effects in decibels, in their order; NaN for effects that
    /// have none, and for unknown ones.
    #[wasm_bindgen(js_name = gainReductionsDb)]
    pub fn gain_reductions_db(&self) -> Vec<f32> {
        let reduction_db = |name: &EffectName| {
            let (owner, effect) = self.effect(name)?;
            self.mixer.gain_reduction_db(owner, effect)
        };
        self.watched.iter().map(|name| reduction_db(name).unwrap_or(f32::NAN)).collect()
    }

    /// Writes the sample peaks since the last call, for [`Self::peaks`].
    #[wasm_bindgen(js_name = takePeaks)]
    pub fn take_peaks(&mut self) {
        self.mixer.take_peaks(&mut self.peaks);
    }

    /// Address of the peaks of the last [`Self::take_peaks`]: left and right of each track, then of
    /// the master; [`Self::peak_count`] values.
    pub fn peaks(&self) -> *const f32 {
        self.peaks.as_ptr()
    }

    /// Number of [`Self::peaks`].
    #[wasm_bindgen(getter, js_name = peakCount)]
    pub fn peak_count(&self) -> usize {
        self.peaks.len()
    }
}

fn check_slot(slot: usize) -> Result<(), JsError> {
    if slot < MAX_BANKS {
        return Ok(());
    }
    Err(JsError::new(&format!("the engine holds at most {MAX_BANKS} sound banks")))
}

fn check_audio_slot(slot: usize) -> Result<(), JsError> {
    if slot < MAX_AUDIO {
        return Ok(());
    }
    Err(JsError::new(&format!("the engine holds at most {MAX_AUDIO} audio files")))
}
