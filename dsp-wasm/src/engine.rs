//! The engine on the audio thread: banks, audio, a mixer, and buffers that JavaScript reads and
//! writes.

use std::sync::Arc;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::effects::{EffectKind, effect_kind};
use dsp_core::meters::{MasterMeter, SPECTRUM_BANDS};
use dsp_core::mixer::{EffectOwner, Mixer, Slots, TrackMix, Underruns, WantedAudio};
use dsp_core::session::{Audio, AudioSlot, EffectSettings, Event, Session};
use dsp_core::soundfont::Bank;
use wasm_bindgen::prelude::*;

use crate::incoming_files::IncomingFiles;

/// Number of bank slots.
const MAX_BANKS: usize = 64;

/// Number of audio slots.
const MAX_AUDIO: usize = 4096;

/// Values of the master's meters before those of the spectrum.
const METER_FIGURES: usize = 8;

/// Plays sessions. Audio passes through buffers in the memory of this module, whose addresses are
/// fixed: nothing is allocated during playback.
#[wasm_bindgen]
pub struct WasmEngine {
    banks: Vec<Option<Bank>>,
    audio: Vec<Option<AudioSlot>>,
    session: Session,
    mixer: Mixer,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
    peaks: Vec<f32>,
    rms: Vec<f32>,
    underruns: Underruns,
    /// Present while the page shows the meters.
    meter: Option<Box<MasterMeter>>,
    readings: [f32; METER_FIGURES + SPECTRUM_BANDS],
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
            session,
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
            peaks: vec![0.0; 2],
            rms: vec![0.0; 2],
            underruns: Underruns::default(),
            meter: None,
            readings: [f32::NEG_INFINITY; METER_FIGURES + SPECTRUM_BANDS],
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

    /// Removes the bank in a slot, and an unfinished file for it. Its tracks become silent.
    ///
    /// # Errors
    ///
    /// A message if the session cannot be played without it.
    #[wasm_bindgen(js_name = dropBank)]
    pub fn drop_bank(&mut self, slot: usize) -> Result<(), JsError> {
        self.incoming_banks.remove(slot);
        match self.banks.get_mut(slot) {
            Some(bank) => *bank = None,
            None => return Ok(()),
        }
        self.update_slots()
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

    /// Removes the audio in a slot, and an unfinished file for it. Its clips become silent.
    ///
    /// # Errors
    ///
    /// A message if the slot does not exist.
    #[wasm_bindgen(js_name = dropAudio)]
    pub fn drop_audio(&mut self, slot: usize) -> Result<(), JsError> {
        self.set_audio(slot, None)
    }

    fn set_audio(&mut self, slot: usize, audio: Option<AudioSlot>) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.incoming_audio.remove(slot);
        if self.audio.len() <= slot {
            self.audio.resize(slot + 1, None);
        }
        self.audio[slot] = audio;
        self.update_slots()
    }

    /// The settings of an effect. Commands change them along with the mixer, because the session is
    /// applied again when a bank or audio arrives.
    fn effect_mut(
        &mut self,
        track: Option<usize>,
        effect: usize,
    ) -> Option<(&'static EffectKind, &mut EffectSettings)> {
        let effects = match track {
            Some(index) => &mut self.session.tracks.get_mut(index)?.effects,
            None => &mut self.session.master_effects,
        };
        // Indices count the effects that the mixer has.
        effects.iter_mut().filter_map(|settings| Some((effect_kind(&settings.kind)?, settings))).nth(effect)
    }

    /// Applies a change of the banks and audio in the slots.
    fn update_slots(&mut self) -> Result<(), JsError> {
        let slots = Slots { banks: &self.banks, audio: &self.audio };
        Ok(self.mixer.set_session(&self.session, slots)?)
    }

    /// The blocks of streamed audio that clips need. Each block has six numbers: index of the
    /// track, index of the clip, slot, first frame in the source, length in frames, and frames
    /// until it is needed. A block is listed until [`Self::fill_audio`] delivers it.
    #[wasm_bindgen(js_name = wantedAudio)]
    pub fn wanted_audio(&self) -> Vec<f64> {
        let numbers = |wanted: WantedAudio| {
            [
                wanted.track as f64,
                wanted.clip as f64,
                f64::from(wanted.audio_slot),
                wanted.source_frame as f64,
                wanted.frames as f64,
                wanted.ahead_frames as f64,
            ]
        };
        self.mixer.wanted_audio().flat_map(numbers).collect()
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
        self.rms = self.peaks.clone();
        self.session = session;
        Ok(())
    }

    /// Plays from the current position.
    pub fn play(&mut self) {
        self.mixer.play();
        self.reset_meters_at_start();
    }

    /// Stops; notes are released.
    pub fn stop(&mut self) {
        self.mixer.stop();
    }

    /// Moves to a frame of the session.
    pub fn seek(&mut self, frame: f64) {
        self.mixer.seek(frame as u64);
        self.reset_meters_at_start();
    }

    /// Resets the meters when the session plays from its start.
    fn reset_meters_at_start(&mut self) {
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

    /// Presses a key. `velocity` is 1 to 127.
    #[wasm_bindgen(js_name = noteOn)]
    pub fn note_on(&mut self, track: usize, key: u8, velocity: u8) {
        self.mixer.play_event(track, Event::NoteOn { key: key.min(127), velocity: velocity.clamp(1, 127) });
    }

    /// Releases a key.
    #[wasm_bindgen(js_name = noteOff)]
    pub fn note_off(&mut self, track: usize, key: u8) {
        self.mixer.play_event(track, Event::NoteOff { key: key.min(127) });
    }

    /// Releases all notes of all tracks.
    #[wasm_bindgen(js_name = allNotesOff)]
    pub fn all_notes_off(&mut self) {
        self.mixer.release_all();
    }

    /// Sets a track's fader (a linear gain), pan (-1 to 1), mute and solo.
    #[wasm_bindgen(js_name = setTrackMix)]
    pub fn set_track_mix(&mut self, track: usize, gain: f32, pan: f32, mute: bool, solo: bool) {
        self.mixer.set_track_mix(track, &TrackMix { gain, pan, mute, solo });
        if let Some(settings) = self.session.tracks.get_mut(track) {
            (settings.gain, settings.pan, settings.mute, settings.solo) = (gain, pan, mute, solo);
        }
    }

    /// Sets the send at an index of a track to a linear gain.
    #[wasm_bindgen(js_name = setSendGain)]
    pub fn set_send_gain(&mut self, track: usize, send: usize, gain: f32) {
        self.mixer.set_send_gain(track, send, gain);
        let settings = self.session.tracks.get_mut(track);
        if let Some(send) = settings.and_then(|track| track.sends.get_mut(send)) {
            send.gain = gain;
        }
    }

    /// Index of an effect of a track, or of the master without a track, by its id.
    #[wasm_bindgen(js_name = effectIndex)]
    pub fn effect_index(&self, track: Option<usize>, id: &str) -> Option<usize> {
        self.mixer.effect_index(owner(track), id)
    }

    /// Sets a parameter of an effect, by its index in the table of the effect's kind, to a value in
    /// its unit.
    #[wasm_bindgen(js_name = setEffectParameter)]
    pub fn set_effect_parameter(
        &mut self,
        track: Option<usize>,
        effect: usize,
        parameter: usize,
        value: f64,
    ) {
        self.mixer.set_effect_parameter(owner(track), effect, parameter, value);
        if let Some((kind, settings)) = self.effect_mut(track, effect) {
            let missing = kind.parameters.iter().skip(settings.values.len());
            settings.values.extend(missing.map(|parameter| parameter.default));
            settings.values.get_mut(parameter).into_iter().for_each(|old| *old = value);
        }
    }

    /// Bypasses an effect, or no longer.
    #[wasm_bindgen(js_name = setEffectBypass)]
    pub fn set_effect_bypass(&mut self, track: Option<usize>, effect: usize, bypass: bool) {
        self.mixer.set_effect_bypass(owner(track), effect, bypass);
        if let Some((_, settings)) = self.effect_mut(track, effect) {
            settings.bypass = bypass;
        }
    }

    /// Bypasses all effects of a track or of the master, or no longer.
    #[wasm_bindgen(js_name = setBypass)]
    pub fn set_bypass(&mut self, track: Option<usize>, bypass: bool) {
        self.mixer.set_bypass(owner(track), bypass);
        if let Some(settings) = track.and_then(|index| self.session.tracks.get_mut(index)) {
            settings.bypass = bypass;
        }
    }

    /// Current gain reduction of an effect in decibels; nothing for effects that have none.
    #[wasm_bindgen(js_name = gainReductionDb)]
    pub fn gain_reduction_db(&self, track: Option<usize>, effect: usize) -> Option<f32> {
        self.mixer.gain_reduction_db(owner(track), effect)
    }

    /// Sets the master fader to a linear gain.
    #[wasm_bindgen(js_name = setMasterGain)]
    pub fn set_master_gain(&mut self, gain: f32) {
        self.mixer.set_master_gain(gain);
        self.session.master_gain = gain;
    }

    /// Whether a track plays its input buffers instead of its notes.
    #[wasm_bindgen(js_name = setTakesInput)]
    pub fn set_takes_input(&mut self, track: usize, takes_input: bool) {
        self.mixer.set_takes_input(track, takes_input);
    }

    /// Address of a track's four contiguous input buffers of 256 floats: left, right, reverb send
    /// and chorus send. The caller fills them before each [`Self::process`]. 0 for a track without
    /// external input.
    #[wasm_bindgen(js_name = trackInput)]
    pub fn track_input(&mut self, track: usize) -> *const f32 {
        self.mixer.track_input(track).map_or(std::ptr::null(), |input| input.as_ptr().cast())
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

    /// Starts or stops measuring the master. Stopping discards the measurement.
    #[wasm_bindgen(js_name = watchMeters)]
    pub fn watch_meters(&mut self, watch: bool) {
        if watch != self.meter.is_some() {
            self.meter = watch.then(|| Box::new(MasterMeter::new(self.session.sample_rate_hz)));
        }
    }

    /// Resets integrated loudness and peaks of the master, as playing from the start does.
    #[wasm_bindgen(js_name = resetMeters)]
    pub fn reset_meters(&mut self) {
        self.meter.iter_mut().for_each(|meter| meter.restart());
    }

    /// Writes the values of the master's meters and returns their address. The order is momentary,
    /// short-term and integrated loudness in LUFS, true peak in dBTP, sample peak in dBFS and
    /// correlation. RMS of left and right in decibels and the levels of the 31 third octaves from
    /// 20 Hz to 20 kHz in decibels follow. Unchanged while the meters are not watched.
    #[wasm_bindgen(js_name = readMeters)]
    pub fn read_meters(&mut self) -> *const f32 {
        if let Some(meter) = &self.meter {
            let readings = meter.read();
            let figures: [f64; METER_FIGURES] = [
                readings.momentary_lufs,
                readings.short_term_lufs,
                readings.integrated_lufs,
                readings.true_peak_dbtp,
                readings.sample_peak_dbfs,
                readings.correlation,
                readings.rms_db[0],
                readings.rms_db[1],
            ];
            let all = figures.iter().chain(&readings.spectrum_db);
            self.readings.iter_mut().zip(all).for_each(|(reading, value)| *reading = *value as f32);
        }
        self.readings.as_ptr()
    }

    /// Number of values that [`Self::read_meters`] writes.
    #[wasm_bindgen(getter, js_name = meterCount)]
    pub fn meter_count(&self) -> usize {
        self.readings.len()
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

    /// Writes the RMS levels since the last call and returns their address: as many as peaks, in
    /// the same order.
    #[wasm_bindgen(js_name = takeRms)]
    pub fn take_rms(&mut self) -> *const f32 {
        self.mixer.take_rms(&mut self.rms);
        self.rms.as_ptr()
    }

    /// Number of [`Self::peaks`].
    #[wasm_bindgen(getter, js_name = peakCount)]
    pub fn peak_count(&self) -> usize {
        self.peaks.len()
    }
}

/// The owner of effects: a track, or the master without one.
fn owner(track: Option<usize>) -> EffectOwner {
    track.map_or(EffectOwner::Master, EffectOwner::Track)
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
