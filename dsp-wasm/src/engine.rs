//! The audio thread's half: banks, a mixer, and the buffers that both sides see.

use std::sync::Arc;

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::effects::{EffectKind, effect_kind};
use dsp_core::meters::{MasterMeter, SPECTRUM_BANDS};
use dsp_core::session::{
    Audio, AudioSlot, EffectOwner, EffectSettings, Event, Mixer, Session, Slots, TrackMix, Underruns,
};
use dsp_core::soundfont::Bank;
use wasm_bindgen::prelude::*;

use crate::arrivals::Arrivals;

/// Most banks that can be held at a time.
const MAX_BANKS: usize = 64;

/// Most pieces of audio that can be held at a time.
const MAX_AUDIO: usize = 4096;

/// Numbers of the meters of the master before those of its spectrum.
const METER_FIGURES: usize = 8;

/// Plays sessions. All sound goes through buffers in this module's memory, whose addresses
/// are asked for once: nothing is allocated while it plays.
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
    /// There while somebody watches.
    meter: Option<Box<MasterMeter>>,
    readings: [f32; METER_FIGURES + SPECTRUM_BANDS],
    arriving_banks: Arrivals,
    arriving_audio: Arrivals,
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
            arriving_banks: Arrivals::new("the sound bank"),
            arriving_audio: Arrivals::new("the audio"),
        })
    }

    /// Loads a bank from the bytes of an SF2 file into a slot below 64, and lets the tracks that
    /// wait for it sound. The engine keeps the bytes.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong with the bank.
    #[wasm_bindgen(js_name = loadBank)]
    pub fn load_bank(&mut self, slot: usize, file: Vec<u8>) -> Result<(), JsError> {
        check_slot(slot)?;
        let bank = Bank::from_vec(file)?;
        if self.banks.len() <= slot {
            self.banks.resize(slot + 1, None);
        }
        self.banks[slot] = Some(bank);
        self.go_on()
    }

    /// Makes room for a bank's file of so many bytes that arrives in pieces, which
    /// [`Self::add_to_bank`] takes and [`Self::end_bank`] loads. What was there of an earlier one
    /// for the slot goes.
    ///
    /// # Errors
    ///
    /// A message if there is no such slot or no memory.
    #[wasm_bindgen(js_name = beginBank)]
    pub fn begin_bank(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_slot(slot)?;
        self.arriving_banks.begin(slot, size_bytes)
    }

    /// Takes the next piece of a bank's file; small enough ones can be taken between two blocks
    /// without being heard.
    ///
    /// # Errors
    ///
    /// A message if no bank was begun for the slot, or it is longer than it was said to be; what
    /// was there of it then goes.
    #[wasm_bindgen(js_name = addToBank)]
    pub fn add_to_bank(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.arriving_banks.add(slot, piece)
    }

    /// Loads a bank whose file has arrived, as [`Self::load_bank`] does.
    ///
    /// # Errors
    ///
    /// A message if the file is not whole, or what is wrong with the bank.
    #[wasm_bindgen(js_name = endBank)]
    pub fn end_bank(&mut self, slot: usize) -> Result<(), JsError> {
        let file = self.arriving_banks.end(slot)?;
        self.load_bank(slot, file)
    }

    /// Lets the bank in a slot go, and what has arrived of one. Tracks that play it fall silent.
    ///
    /// # Errors
    ///
    /// A message if the session cannot go on without it.
    #[wasm_bindgen(js_name = dropBank)]
    pub fn drop_bank(&mut self, slot: usize) -> Result<(), JsError> {
        self.arriving_banks.drop(slot);
        match self.banks.get_mut(slot) {
            Some(bank) => *bank = None,
            None => return Ok(()),
        }
        self.go_on()
    }

    /// Makes room for audio of so many bytes in a slot below 4096, that is to be there whole: what
    /// clips play, or an impulse response. It arrives in pieces, which [`Self::add_to_audio`] takes
    /// and [`Self::end_audio`] lets sound. What was there of an earlier arrival for the slot goes;
    /// what the slot holds sounds on until then.
    ///
    /// # Errors
    ///
    /// A message if there is no such slot or no memory.
    #[wasm_bindgen(js_name = beginAudio)]
    pub fn begin_audio(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.arriving_audio.begin(slot, size_bytes)
    }

    /// Takes the next piece of audio, as [`Self::add_to_bank`] does of a bank: little-endian 32-bit
    /// floats at the engine's sample rate, channels interleaved.
    ///
    /// # Errors
    ///
    /// A message if none was begun for the slot, or it is longer than it was said to be; what was
    /// there of it then goes.
    #[wasm_bindgen(js_name = addToAudio)]
    pub fn add_to_audio(&mut self, slot: usize, piece: &[u8]) -> Result<(), JsError> {
        self.arriving_audio.add(slot, piece)
    }

    /// Lets audio of one or two channels sound that has arrived.
    ///
    /// # Errors
    ///
    /// A message if it is not whole or has other channels.
    #[wasm_bindgen(js_name = endAudio)]
    pub fn end_audio(&mut self, slot: usize, channels: u16) -> Result<(), JsError> {
        let bytes = self.arriving_audio.end(slot)?;
        let data = 0..bytes.len();
        self.set_audio(slot, Some(AudioSlot::Whole(Audio::from_shared(Arc::new(bytes), data, channels)?)))
    }

    /// Says that a slot below 4096 holds audio of so many frames that is handed over as it is
    /// wanted: see [`Self::wanted_audio`]. What was on its way there goes.
    ///
    /// # Errors
    ///
    /// A message if there is no such slot.
    #[wasm_bindgen(js_name = streamAudio)]
    pub fn stream_audio(&mut self, slot: usize, frames: f64) -> Result<(), JsError> {
        self.set_audio(slot, Some(AudioSlot::Streamed { frames: frames as u64 }))
    }

    /// Lets the audio in a slot go, and what is on its way there. Clips that play it fall silent.
    ///
    /// # Errors
    ///
    /// A message if there is no such slot.
    #[wasm_bindgen(js_name = dropAudio)]
    pub fn drop_audio(&mut self, slot: usize) -> Result<(), JsError> {
        self.set_audio(slot, None)
    }

    fn set_audio(&mut self, slot: usize, audio: Option<AudioSlot>) -> Result<(), JsError> {
        check_audio_slot(slot)?;
        self.arriving_audio.drop(slot);
        if self.audio.len() <= slot {
            self.audio.resize(slot + 1, None);
        }
        self.audio[slot] = audio;
        self.go_on()
    }

    /// An effect of the session that plays, which hands have moved as well as what sounds: it is
    /// what goes on when a bank or audio arrives.
    fn effect_mut(
        &mut self,
        track_place: Option<usize>,
        effect: usize,
    ) -> Option<(&'static EffectKind, &mut EffectSettings)> {
        let effects = match track_place {
            Some(place) => &mut self.session.tracks.get_mut(place)?.effects,
            None => &mut self.session.master_effects,
        };
        // The mixer counts those that it has.
        effects.iter_mut().filter_map(|settings| Some((effect_kind(&settings.kind)?, settings))).nth(effect)
    }

    /// Goes on with the same session after a change of what its slots hold.
    fn go_on(&mut self) -> Result<(), JsError> {
        let slots = Slots { banks: &self.banks, audio: &self.audio };
        Ok(self.mixer.set_session(&self.session, slots)?)
    }

    /// What clips will want of audio that is handed over: six numbers for each. Track place, clip,
    /// slot, frame of the source, frames wanted, frames that are still there; the fewer of these,
    /// the more urgent. The same is wanted until [`Self::fill_audio`] brings it.
    #[wasm_bindgen(js_name = wantedAudio)]
    pub fn wanted_audio(&self) -> Vec<f64> {
        let numbers = |wanted: dsp_core::session::WantedAudio| {
            [
                wanted.track_place as f64,
                wanted.clip as f64,
                f64::from(wanted.audio_slot),
                wanted.source_frame as f64,
                wanted.frames as f64,
                wanted.ahead_frames as f64,
            ]
        };
        self.mixer.wanted_audio().flat_map(numbers).collect()
    }

    /// Hands over audio that was wanted; slot and frame of the source as they stood there. May be
    /// less than was wanted. All clips that want it now take it; what nobody wants any more is
    /// passed over.
    #[wasm_bindgen(js_name = fillAudio)]
    pub fn fill_audio(&mut self, slot: u32, source_frame: f64, left: &[f32], right: &[f32]) {
        self.mixer.fill_audio(slot, source_frame as u64, [left, right]);
    }

    /// How often audio was wanted and not there in time, since the engine was made.
    #[wasm_bindgen(js_name = audioUnderruns)]
    pub fn audio_underruns(&mut self) -> f64 {
        let Underruns { events, frames } = self.mixer.take_underruns();
        self.underruns.events += events;
        self.underruns.frames += frames;
        self.underruns.events as f64
    }

    /// Goes on with a session that [`compile_session`](crate::compile::compile_session) made.
    ///
    /// # Errors
    ///
    /// A message if the bytes are no session or the session cannot be played; the engine then
    /// plays on as it was.
    #[wasm_bindgen(js_name = setSession)]
    pub fn set_session(&mut self, bytes: &[u8]) -> Result<(), JsError> {
        let session: Session = postcard::from_bytes(bytes)?;
        self.mixer.set_session(&session, Slots { banks: &self.banks, audio: &self.audio })?;
        self.peaks = vec![0.0; 2 * session.tracks.len() + 2];
        self.rms = self.peaks.clone();
        self.session = session;
        Ok(())
    }

    /// Starts at the current position.
    pub fn play(&mut self) {
        self.mixer.play();
        self.measure_from_the_start();
    }

    /// Stands still; notes ring out.
    pub fn stop(&mut self) {
        self.mixer.stop();
    }

    /// Moves to a frame of the session.
    pub fn seek(&mut self, frame: f64) {
        self.mixer.seek(frame as u64);
        self.measure_from_the_start();
    }

    /// Lets the meters begin anew where the session plays from its start.
    fn measure_from_the_start(&mut self) {
        if self.mixer.is_playing() && self.mixer.position() == 0 {
            self.meter.iter_mut().for_each(|meter| meter.reset());
        }
    }

    /// Frames from the start of the session to the next frame that enters the mix.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.mixer.position() as f64
    }

    /// Whether the session moves.
    #[wasm_bindgen(getter)]
    pub fn playing(&self) -> bool {
        self.mixer.is_playing()
    }

    /// Frames by which the output lags the session.
    #[wasm_bindgen(getter, js_name = latencyFrames)]
    pub fn latency_frames(&self) -> usize {
        self.mixer.latency_frames()
    }

    /// Strikes a key now. `velocity` is 1 to 127.
    #[wasm_bindgen(js_name = noteOn)]
    pub fn note_on(&mut self, track_place: usize, key: u8, velocity: u8) {
        self.mixer.live(track_place, Event::NoteOn { key: key.min(127), velocity: velocity.clamp(1, 127) });
    }

    /// Lets a key go now.
    #[wasm_bindgen(js_name = noteOff)]
    pub fn note_off(&mut self, track_place: usize, key: u8) {
        self.mixer.live(track_place, Event::NoteOff { key: key.min(127) });
    }

    /// Ends every note of every track with its release.
    #[wasm_bindgen(js_name = allNotesOff)]
    pub fn all_notes_off(&mut self) {
        self.mixer.release_all();
    }

    /// Moves a track's fader (a linear gain), pan (-1 to 1), mute and solo.
    #[wasm_bindgen(js_name = setTrackMix)]
    pub fn set_track_mix(&mut self, track_place: usize, gain: f32, pan: f32, mute: bool, solo: bool) {
        self.mixer.set_track_mix(track_place, &TrackMix { gain, pan, mute, solo });
        if let Some(track) = self.session.tracks.get_mut(track_place) {
            (track.gain, track.pan, track.mute, track.solo) = (gain, pan, mute, solo);
        }
    }

    /// Moves a send of a track, by its place among those, to a linear gain.
    #[wasm_bindgen(js_name = setSendGain)]
    pub fn set_send_gain(&mut self, track_place: usize, send: usize, gain: f32) {
        self.mixer.set_send_gain(track_place, send, gain);
        let track = self.session.tracks.get_mut(track_place);
        if let Some(send) = track.and_then(|track| track.sends.get_mut(send)) {
            send.gain = gain;
        }
    }

    /// Place of an effect of a track, or of the master where no track is named, by its id.
    #[wasm_bindgen(js_name = effectPlace)]
    pub fn effect_place(&self, track_place: Option<usize>, id: &str) -> Option<usize> {
        self.mixer.effect_place(owner(track_place), id)
    }

    /// Moves a parameter of an effect, by its place in the table of the effect's kind, to a value
    /// in its unit.
    #[wasm_bindgen(js_name = setEffectParameter)]
    pub fn set_effect_parameter(
        &mut self,
        track_place: Option<usize>,
        effect: usize,
        parameter: usize,
        value: f64,
    ) {
        self.mixer.set_effect_parameter(owner(track_place), effect, parameter, value);
        if let Some((kind, settings)) = self.effect_mut(track_place, effect) {
            let unsaid = kind.parameters.iter().skip(settings.values.len());
            settings.values.extend(unsaid.map(|parameter| parameter.default));
            settings.values.get_mut(parameter).into_iter().for_each(|own| *own = value);
        }
    }

    /// Passes the sound around one effect, or no longer.
    #[wasm_bindgen(js_name = setEffectBypass)]
    pub fn set_effect_bypass(&mut self, track_place: Option<usize>, effect: usize, bypass: bool) {
        self.mixer.set_effect_bypass(owner(track_place), effect, bypass);
        if let Some((_, settings)) = self.effect_mut(track_place, effect) {
            settings.bypass = bypass;
        }
    }

    /// Passes the sound around all effects of a track or of the master, or no longer.
    #[wasm_bindgen(js_name = setBypass)]
    pub fn set_bypass(&mut self, track_place: Option<usize>, bypass: bool) {
        self.mixer.set_bypass(owner(track_place), bypass);
        if let Some(track) = track_place.and_then(|place| self.session.tracks.get_mut(place)) {
            track.bypass = bypass;
        }
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    #[wasm_bindgen(js_name = gainReductionDb)]
    pub fn gain_reduction_db(&self, track_place: Option<usize>, effect: usize) -> Option<f32> {
        self.mixer.gain_reduction_db(owner(track_place), effect)
    }

    /// Moves the master fader to a linear gain.
    #[wasm_bindgen(js_name = setMasterGain)]
    pub fn set_master_gain(&mut self, gain: f32) {
        self.mixer.set_master_gain(gain);
        self.session.master_gain = gain;
    }

    /// Whether a track's sound comes from its input buffers instead of its notes.
    #[wasm_bindgen(js_name = setTakesInput)]
    pub fn set_takes_input(&mut self, track_place: usize, takes_input: bool) {
        self.mixer.set_takes_input(track_place, takes_input);
    }

    /// Address of a track's input buffers, four of 256 floats one behind the other: left, right,
    /// and what it sends to the reverb and to the chorus. To be filled before each
    /// [`Self::process`]; 0 for a track that takes none.
    #[wasm_bindgen(js_name = trackInput)]
    pub fn track_input(&mut self, track_place: usize) -> *const f32 {
        self.mixer.track_input(track_place).map_or(std::ptr::null(), |input| input.as_ptr().cast())
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

    /// Measures the master from now on, or no longer: then it costs nothing, and what was measured
    /// is gone.
    #[wasm_bindgen(js_name = watchMeters)]
    pub fn watch_meters(&mut self, watch: bool) {
        if watch != self.meter.is_some() {
            self.meter = watch.then(|| Box::new(MasterMeter::new(self.session.sample_rate_hz)));
        }
    }

    /// Begins integrated loudness and peaks of the master anew, as playing from the start does.
    #[wasm_bindgen(js_name = resetMeters)]
    pub fn reset_meters(&mut self) {
        self.meter.iter_mut().for_each(|meter| meter.restart());
    }

    /// Writes what the meters of the master show and returns its address: momentary, short-term and
    /// integrated loudness in LUFS, true peak in dBTP, sample peak in dBFS, correlation, RMS of
    /// left and right in decibels, and the levels of the 31 third octaves from 20 Hz to 20 kHz in
    /// decibels. While nobody watches it stays as it was.
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
            self.readings.iter_mut().zip(all).for_each(|(place, value)| *place = *value as f32);
        }
        self.readings.as_ptr()
    }

    /// How many numbers [`Self::read_meters`] writes.
    #[wasm_bindgen(getter, js_name = meterCount)]
    pub fn meter_count(&self) -> usize {
        self.readings.len()
    }

    /// Writes the highest magnitudes since the last call to [`Self::peaks`].
    #[wasm_bindgen(js_name = takePeaks)]
    pub fn take_peaks(&mut self) {
        self.mixer.take_peaks(&mut self.peaks);
    }

    /// Address of the peaks that were taken last: left and right of each track, then of the master,
    /// as many as [`Self::peak_count`].
    pub fn peaks(&self) -> *const f32 {
        self.peaks.as_ptr()
    }

    /// Writes the roots of the mean squares since the last call and returns their address: as many
    /// as peaks, in the same order.
    #[wasm_bindgen(js_name = takeRms)]
    pub fn take_rms(&mut self) -> *const f32 {
        self.mixer.take_rms(&mut self.rms);
        self.rms.as_ptr()
    }

    /// How many [`Self::peaks`] there are.
    #[wasm_bindgen(getter, js_name = peakCount)]
    pub fn peak_count(&self) -> usize {
        self.peaks.len()
    }
}

/// The effects of a track, or of the master where none is named.
fn owner(track_place: Option<usize>) -> EffectOwner {
    track_place.map_or(EffectOwner::Master, EffectOwner::Track)
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
    Err(JsError::new(&format!("the engine holds at most {MAX_AUDIO} pieces of audio")))
}
