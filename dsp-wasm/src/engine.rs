//! The engine on the audio thread: SoundFont banks, audio files, a mixer, and buffers that
//! JavaScript reads and writes.

use std::ops::Range;
use std::sync::Arc;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::meters::MasterMeter;
use dsp_core::metronome::Metronome;
use dsp_core::mixer::{Mixer, Slots, Underruns};
use dsp_core::session::{Audio, AudioSlot, Event, Session};
use dsp_core::soundfont::Bank;
use wasm_bindgen::prelude::*;

use crate::incoming_files::IncomingFiles;
use crate::live_notes::LiveNotes;
use crate::messages::{EffectName, MasterMeters, WantedAudio};

/// Number of bank slots of the engine.
const MAX_BANKS: usize = 64;

/// Number of audio slots of the engine.
const MAX_AUDIO: usize = 4096;

/// Plays sessions. JavaScript reads and writes audio through buffers in the memory of this
/// WebAssembly module. Rendering allocates nothing.
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
    /// The meter of the master; `None` while the page does not show the meters.
    pub(crate) meter: Option<Box<MasterMeter>>,
    /// Effects whose gain reductions are reported.
    pub(crate) watched: Vec<EffectName>,
    pub(crate) metronome: Metronome,
    pub(crate) live_notes: LiveNotes,
    incoming_banks: IncomingFiles,
    incoming_audio: IncomingFiles,
}

#[wasm_bindgen]
impl WasmEngine {
    /// Creates an engine without banks or tracks.
    ///
    /// # Errors
    ///
    /// Returns a message if the engine does not support the sample rate.
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
            metronome: Metronome::new(sample_rate_hz),
            live_notes: LiveNotes::default(),
            incoming_banks: IncomingFiles::new("the SoundFont"),
            incoming_audio: IncomingFiles::new("the audio"),
        })
    }

    /// Loads a bank from the bytes of an SF2 file into a slot below 64. Tracks that use the slot
    /// become audible.
    ///
    /// # Errors
    ///
    /// Returns a message if the slot does not exist, or one that names the defect of the file.
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

    /// Begins to receive a bank's file of `size_bytes` bytes in pieces. [`Self::add_to_bank`]
    /// appends a piece, and [`Self::end_bank`] loads the file. Replaces an unfinished file for the
    /// slot.
    ///
    /// # Errors
    ///
    /// Returns a message if the slot does not exist, or if there is not enough memory.
    #[wasm_bindgen(js_name = beginBank)]
    pub fn begin_bank(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_slot(slot)?;
        self.incoming_banks.begin(slot, size_bytes)
    }

    /// Appends the next piece of a bank's file. Pieces of 64 KiB do not interrupt playback.
    ///
    /// # Errors
    ///
    /// Returns a message if [`Self::begin_bank`] was not called for the slot, or if the pieces
    /// exceed the announced size. In the second case the unfinished file is removed.
    #[wasm_bindgen(js_name = addToBank)]
    pub fn add_to_bank(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.incoming_banks.add(slot, piece)
    }

    /// Loads the bank once all pieces of its file have arrived; see [`Self::load_bank`].
    ///
    /// # Errors
    ///
    /// Returns a message if the file is incomplete, or one that names the defect of the file.
    #[wasm_bindgen(js_name = endBank)]
    pub fn end_bank(&mut self, slot: usize) -> Result<(), JsError> {
        let file = self.incoming_banks.end(slot)?;
        self.load_bank(slot, file)
    }

    /// Begins to receive a whole audio file of `size_bytes` bytes for a slot below 4096. Clips or
    /// an impulse response may use it. [`Self::add_to_audio`] appends a piece, and
    /// [`Self::end_audio`] makes the file audible. Until then, the slot's previous audio remains
    /// audible. Replaces an unfinished file for the slot.
    ///
    /// # Errors
    ///
    /// Returns a message if the slot does not exist, or if there is not enough memory.
    #[wasm_bindgen(js_name = beginAudio)]
    pub fn begin_audio(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.incoming_audio.begin(slot, size_bytes)
    }

    /// Appends the next piece of an audio file, which consists of little-endian 32-bit floats at
    /// the engine's sample rate with interleaved channels. See [`Self::add_to_bank`].
    ///
    /// # Errors
    ///
    /// Returns a message if [`Self::begin_audio`] was not called for the slot, or if the pieces
    /// exceed the announced size. In the second case the unfinished file is removed.
    #[wasm_bindgen(js_name = addToAudio)]
    pub fn add_to_audio(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.incoming_audio.add(slot, piece)
    }

    /// Makes a received audio file of one or two channels audible.
    ///
    /// # Errors
    ///
    /// Returns a message if the file is incomplete, or if `channels` is neither 1 nor 2.
    #[wasm_bindgen(js_name = endAudio)]
    pub fn end_audio(&mut self, slot: usize, channels: u16) -> Result<(), JsError> {
        let bytes = self.incoming_audio.end(slot)?;
        let sample_range = 0..bytes.len();
        self.set_audio(
            slot,
            Some(AudioSlot::Whole(Audio::from_shared(Arc::new(bytes), sample_range, channels)?)),
        )
    }

    /// Declares that the audio of a slot below 4096 is streamed and `frames` frames long at the
    /// engine's sample rate. [`Self::wanted_audio`] then lists the blocks that clips need. Removes
    /// an unfinished file for the slot.
    ///
    /// # Errors
    ///
    /// Returns a message if the slot does not exist.
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

    /// Passes the current banks and audio of the slots to the mixer.
    fn update_slots(&mut self) -> Result<(), JsError> {
        let slots = Slots { banks: &self.banks, audio: &self.audio };
        self.mixer.set_slots(slots)?;
        self.metronome.set_latency(self.mixer.latency_frames());
        Ok(())
    }

    /// Lists the blocks of streamed audio that clips need, in no particular order. A block is
    /// listed until [`Self::fill_audio`] delivers it.
    ///
    /// # Errors
    ///
    /// Never fails: numbers and texts always have a counterpart in JavaScript.
    #[wasm_bindgen(js_name = wantedAudio, unchecked_return_type = "WantedAudio[]")]
    pub fn wanted_audio(&self) -> Result<JsValue, JsError> {
        let wanted_audio = self.mixer.wanted_audio().map(|wanted_audio| WantedAudio {
            track_id: self.mixer.track_id(wanted_audio.track).unwrap_or_default().to_owned(),
            clip: wanted_audio.clip,
            slot: wanted_audio.audio_slot,
            source_frame: wanted_audio.source_frame,
            frames: wanted_audio.frames,
            ahead_frames: wanted_audio.ahead_frames,
        });
        Ok(serde_wasm_bindgen::to_value(&wanted_audio.collect::<Vec<_>>())?)
    }

    /// Delivers a block of streamed audio with the slot and the source frame of a block that
    /// [`Self::wanted_audio`] lists. The block may be shorter than listed. Audio that no clip needs
    /// any longer is ignored.
    #[wasm_bindgen(js_name = fillAudio)]
    pub fn fill_audio(&mut self, slot: u32, source_frame: f64, left: &[f32], right: &[f32]) {
        self.mixer.fill_audio(slot, source_frame as u64, [left, right]);
    }

    /// Returns the number of drop-outs that late streamed audio has caused since the engine was
    /// created.
    #[wasm_bindgen(js_name = audioUnderruns)]
    pub fn audio_underruns(&mut self) -> f64 {
        let Underruns { events, frames } = self.mixer.take_underruns();
        self.underruns.events += events;
        self.underruns.frames += frames;
        self.underruns.events as f64
    }

    /// Replaces the session and continues at the current position. `bytes` come from
    /// [`CompiledSession::bytes`](crate::compile::CompiledSession::bytes).
    ///
    /// # Errors
    ///
    /// Returns a message if the bytes are not a session, or if the session cannot be played. The
    /// engine then continues with the old session.
    #[wasm_bindgen(js_name = setSession)]
    pub fn set_session(&mut self, bytes: &[u8]) -> Result<(), JsError> {
        let session: Session = postcard::from_bytes(bytes).map_err(|error| {
            JsError::new(&format!("the {} bytes are not a session of this engine: {error}", bytes.len()))
        })?;
        self.mixer.set_session(&session, Slots { banks: &self.banks, audio: &self.audio })?;
        self.peaks = vec![0.0; 2 * session.tracks.len() + 2];
        self.metronome.set_latency(self.mixer.latency_frames());
        Ok(())
    }

    /// Resets the meters if the session is playing and its position is the start.
    pub(crate) fn reset_meters_at_start(&mut self) {
        if self.mixer.is_playing() && self.mixer.position_frames() == 0 {
            self.meter.iter_mut().for_each(|meter| meter.reset());
        }
    }

    /// Position of the next frame to be rendered, in frames from the start of the session.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.mixer.position_frames() as f64
    }

    /// The frame of the session to which the last rendered frame of the output belongs. During
    /// playback, this is earlier than [`Self::position`] by the latency of the engine.
    #[wasm_bindgen(getter, js_name = outputFrame)]
    pub fn output_frame(&self) -> f64 {
        self.mixer.output_frame() as f64
    }

    /// Frames until the count-in ends and the session plays; 0 if there is no count-in.
    #[wasm_bindgen(getter, js_name = countInFrames)]
    pub fn count_in_frames(&self) -> f64 {
        self.metronome.count_in_frames() as f64
    }

    /// Returns how many of the next `frames` frames follow each other in the session: those before
    /// the end of a count-in, and those before a jump to the start of the loop. A caller that fills
    /// [`Self::track_input`] renders at most that number of frames at a time.
    #[wasm_bindgen(js_name = contiguousFrames)]
    pub fn contiguous_frames(&self, frames: usize) -> usize {
        match usize::try_from(self.metronome.count_in_frames()) {
            Ok(0) => self.mixer.frames_to_jump().map_or(frames, |to_jump| frames.min(to_jump)),
            count_in_frames => frames.min(count_in_frames.unwrap_or(frames)),
        }
    }

    /// Whether the session plays.
    #[wasm_bindgen(getter)]
    pub fn playing(&self) -> bool {
        self.mixer.is_playing()
    }

    /// Latency of the output behind [`Self::position`], in frames.
    #[wasm_bindgen(getter, js_name = latencyFrames)]
    pub fn latency_frames(&self) -> usize {
        self.mixer.latency_frames()
    }

    /// Makes the tracks with these ids play their input buffers instead of their notes. All other
    /// tracks play their notes.
    #[wasm_bindgen(js_name = setExternalInputs)]
    pub fn set_external_inputs(&mut self, track_ids: Vec<String>) {
        for track in 0..self.mixer.track_count() {
            let is_enabled =
                self.mixer.track_id(track).is_some_and(|id| track_ids.iter().any(|input_id| input_id == id));
            self.mixer.set_input_enabled(track, is_enabled);
        }
    }

    /// Returns the address of a track's four contiguous input buffers of 256 floats each: left,
    /// right, reverb send and chorus send. The caller fills them before each [`Self::process`].
    /// Returns 0 for a track without external input.
    #[wasm_bindgen(js_name = trackInput)]
    pub fn track_input(&mut self, track_id: &str) -> *const f32 {
        let track = self.mixer.track_index(track_id);
        let input = track.and_then(|track| self.mixer.track_input(track));
        input.map_or(std::ptr::null(), |input| input.as_ptr().cast())
    }

    /// Returns the address of two buffers of 256 floats, left and right. After each
    /// [`Self::process`], they contain the input of the master's effects outside the engine.
    /// Returns 0 if there are no such effects.
    #[wasm_bindgen(js_name = insertInput)]
    pub fn insert_input(&mut self) -> *const f32 {
        self.mixer.master_insert().map_or(std::ptr::null(), |insert| insert.input.as_ptr().cast())
    }

    /// Returns the address of two buffers of 256 floats, left and right, for the output of the
    /// master's effects outside the engine. Returns 0 if there are no such effects.
    #[wasm_bindgen(js_name = insertOutput)]
    pub fn insert_output(&mut self) -> *const f32 {
        self.mixer.master_insert().map_or(std::ptr::null(), |insert| insert.output.as_ptr().cast())
    }

    /// Latency of the input of the master's effects outside the engine, in frames.
    #[wasm_bindgen(getter, js_name = insertInputLatency)]
    pub fn insert_input_latency(&self) -> usize {
        self.mixer.master_insert_input_latency()
    }

    /// Uses the buffers at [`Self::insert_output`] for the next block. Without this call, the block
    /// is the input of the effects, with the same latency.
    #[wasm_bindgen(js_name = useInsertOutput)]
    pub fn use_insert_output(&mut self) {
        if let Some(insert) = self.mixer.master_insert() {
            insert.has_output = true;
        }
    }

    /// Returns the address of the left output buffer of 256 floats.
    #[wasm_bindgen(js_name = outputLeft)]
    pub fn output_left(&self) -> *const f32 {
        self.left.as_ptr()
    }

    /// Returns the address of the right output buffer of 256 floats.
    #[wasm_bindgen(js_name = outputRight)]
    pub fn output_right(&self) -> *const f32 {
        self.right.as_ptr()
    }

    /// Renders the next frames, at most 256, into the output buffers.
    pub fn process(&mut self, frames: usize) {
        let frames = frames.min(BLOCK_FRAMES);
        let mut rendered_frames = 0;
        while rendered_frames < frames {
            let chunk_frames = self.contiguous_frames(frames - rendered_frames);
            self.process_chunk(rendered_frames..rendered_frames + chunk_frames);
            rendered_frames += chunk_frames;
        }
    }

    fn process_chunk(&mut self, chunk: Range<usize>) {
        let (left, right) = (&mut self.left[chunk.clone()], &mut self.right[chunk]);
        let position_frames = self.mixer.is_playing().then_some(self.mixer.position_frames());
        let counts_in = self.metronome.count_in_frames() > 0;
        self.mixer.process(left, right);
        if let Some(meter) = &mut self.meter {
            meter.process([&*left, &*right], self.mixer.is_playing());
        }
        self.metronome.add(position_frames, [left, right]);
        if counts_in && self.metronome.count_in_frames() == 0 {
            self.play();
            // The start cuts all sound, including the notes of keys that the user already holds.
            for note in self.live_notes.iter() {
                if let Some(track) = self.mixer.track_index(&note.track_id) {
                    self.mixer.play_event(track, Event::NoteOn { key: note.key, velocity: note.velocity });
                }
            }
        }
    }

    /// Starts playback at the current position.
    pub(crate) fn play(&mut self) {
        self.mixer.play();
        self.reset_meters_at_start();
    }

    /// Returns the measurements of the master, or undefined while the master is not measured.
    ///
    /// # Errors
    ///
    /// Never fails: numbers always have a counterpart in JavaScript.
    #[wasm_bindgen(js_name = masterMeters, unchecked_return_type = "MasterMeters | undefined")]
    pub fn master_meters(&self) -> Result<JsValue, JsError> {
        let meters = self.meter.as_ref().map(|meter| MasterMeters::from(meter.read()));
        Ok(serde_wasm_bindgen::to_value(&meters)?)
    }

    /// Returns the gain reductions in decibels of the watched effects, in the order of the command
    /// that named the effects. The value is NaN for an unknown effect, and for an effect that
    /// reports no gain reduction.
    #[wasm_bindgen(js_name = gainReductionsDb)]
    pub fn gain_reductions_db(&self) -> Vec<f32> {
        let reduction_db = |name: &EffectName| {
            let (owner, effect) = self.effect(name)?;
            self.mixer.gain_reduction_db(owner, effect)
        };
        self.watched.iter().map(|name| reduction_db(name).unwrap_or(f32::NAN)).collect()
    }

    /// Stores the sample peaks since the previous call in the buffer at [`Self::peaks`].
    #[wasm_bindgen(js_name = takePeaks)]
    pub fn take_peaks(&mut self) {
        self.mixer.take_peaks(&mut self.peaks);
    }

    /// Returns the address of the linear peaks that [`Self::take_peaks`] stored: left and right of
    /// each track, then of the master. The buffer has [`Self::peak_count`] values.
    pub fn peaks(&self) -> *const f32 {
        self.peaks.as_ptr()
    }

    /// Number of values in the buffer at [`Self::peaks`].
    #[wasm_bindgen(getter, js_name = peakCount)]
    pub fn peak_count(&self) -> usize {
        self.peaks.len()
    }
}

fn check_slot(slot: usize) -> Result<(), JsError> {
    if slot < MAX_BANKS {
        return Ok(());
    }
    Err(JsError::new(&format!(
        "bank slot {slot} does not exist: the engine has {MAX_BANKS} bank slots, numbered from 0"
    )))
}

fn check_audio_slot(slot: usize) -> Result<(), JsError> {
    if slot < MAX_AUDIO {
        return Ok(());
    }
    Err(JsError::new(&format!(
        "audio slot {slot} does not exist: the engine has {MAX_AUDIO} audio slots, numbered from 0"
    )))
}
