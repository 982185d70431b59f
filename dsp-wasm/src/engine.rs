//! The audio thread's half: banks, a mixer, and the buffers that both sides see.

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::session::{Event, Mixer, Session, TrackMix};
use dsp_core::soundfont::Bank;
use wasm_bindgen::prelude::*;

/// Most banks that can be held at a time.
const MAX_BANKS: usize = 64;

/// Plays sessions. All sound goes through buffers in this module's memory, whose addresses
/// are asked for once: nothing is allocated while it plays.
#[wasm_bindgen]
pub struct WasmEngine {
    banks: Vec<Option<Bank>>,
    session: Session,
    mixer: Mixer,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
    peaks: Vec<f32>,
    arriving: Vec<Arriving>,
}

/// A bank's file of which some is there.
struct Arriving {
    slot: usize,
    size_bytes: usize,
    file: Vec<u8>,
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
        let session = Session {
            sample_rate_hz,
            polyphony: 256,
            seed: 0,
            interpolation: Default::default(),
            reverb: Default::default(),
            chorus: Default::default(),
            master_gain: 1.0,
            length_frames: 0,
            tracks: Vec::new(),
        };
        Ok(Self {
            banks: Vec::new(),
            mixer: Mixer::new(&session, &[])?,
            session,
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
            peaks: vec![0.0; 2],
            arriving: Vec::new(),
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
        Ok(self.mixer.set_session(&self.session, &self.banks)?)
    }

    /// Makes room for a bank's file of so many bytes that arrives in pieces, which [`Self::add_to_bank`]
    /// takes and [`Self::end_bank`] loads. What was there of an earlier one for the slot goes.
    ///
    /// # Errors
    ///
    /// A message if there is no such slot or no memory.
    #[wasm_bindgen(js_name = beginBank)]
    pub fn begin_bank(&mut self, slot: usize, size_bytes: usize) -> Result<(), JsError> {
        check_slot(slot)?;
        self.arriving.retain(|one| one.slot != slot);
        let mut file = Vec::new();
        if file.try_reserve_exact(size_bytes).is_err() {
            return Err(JsError::new(&format!("there is no memory for a sound bank of {size_bytes} bytes")));
        }
        self.arriving.push(Arriving { slot, size_bytes, file });
        Ok(())
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
        let Some(place) = self.arriving.iter().position(|one| one.slot == slot) else {
            return Err(JsError::new("no sound bank is on its way there"));
        };
        let arriving = &mut self.arriving[place];
        if arriving.file.len() + piece.len() > arriving.size_bytes {
            let detail = format!("the sound bank is longer than {} bytes", arriving.size_bytes);
            self.arriving.swap_remove(place);
            return Err(JsError::new(&detail));
        }
        arriving.file.extend_from_slice(piece);
        Ok(())
    }

    /// Loads a bank whose file has arrived, as [`Self::load_bank`] does.
    ///
    /// # Errors
    ///
    /// A message if the file is not whole, or what is wrong with the bank.
    #[wasm_bindgen(js_name = endBank)]
    pub fn end_bank(&mut self, slot: usize) -> Result<(), JsError> {
        let Some(place) = self.arriving.iter().position(|one| one.slot == slot) else {
            return Err(JsError::new("no sound bank is on its way there"));
        };
        let Arriving { size_bytes, file, .. } = self.arriving.swap_remove(place);
        if file.len() < size_bytes {
            let detail = format!("the sound bank broke off after {} of {size_bytes} bytes", file.len());
            return Err(JsError::new(&detail));
        }
        self.load_bank(slot, file)
    }

    /// Lets the bank in a slot go, and what has arrived of one. Tracks that play it fall silent.
    ///
    /// # Errors
    ///
    /// A message if the session cannot go on without it.
    #[wasm_bindgen(js_name = dropBank)]
    pub fn drop_bank(&mut self, slot: usize) -> Result<(), JsError> {
        self.arriving.retain(|one| one.slot != slot);
        match self.banks.get_mut(slot) {
            Some(bank) => *bank = None,
            None => return Ok(()),
        }
        Ok(self.mixer.set_session(&self.session, &self.banks)?)
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
        self.mixer.set_session(&session, &self.banks)?;
        self.peaks = vec![0.0; 2 * session.tracks.len() + 2];
        self.session = session;
        Ok(())
    }

    /// Starts at the current position.
    pub fn play(&mut self) {
        self.mixer.play();
    }

    /// Stands still; notes ring out.
    pub fn stop(&mut self) {
        self.mixer.stop();
    }

    /// Moves to a frame of the session.
    pub fn seek(&mut self, frame: f64) {
        self.mixer.seek(frame as u64);
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

    /// Moves a track's fader (a linear gain), pan (-1 to 1) and mute.
    #[wasm_bindgen(js_name = setTrackMix)]
    pub fn set_track_mix(&mut self, track_place: usize, gain: f32, pan: f32, audible: bool) {
        self.mixer.set_track_mix(track_place, &TrackMix { gain, pan, audible });
    }

    /// Moves the master fader to a linear gain.
    #[wasm_bindgen(js_name = setMasterGain)]
    pub fn set_master_gain(&mut self, gain: f32) {
        self.mixer.set_master_gain(gain);
    }

    /// Whether a track's sound comes from its input buffers instead of its notes.
    #[wasm_bindgen(js_name = setTakesInput)]
    pub fn set_takes_input(&mut self, track_place: usize, takes_input: bool) {
        self.mixer.set_takes_input(track_place, takes_input);
    }

    /// Address of a track's input buffers, four of 256 floats one behind the other: left, right, and
    /// what it sends to the reverb and to the chorus. To be filled before each [`Self::process`];
    /// 0 for a track that takes none.
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
    }

    /// Writes the highest magnitudes since the last call and returns their address: left and
    /// right of each track, then of the master, as many as [`Self::peak_count`].
    #[wasm_bindgen(js_name = takePeaks)]
    pub fn take_peaks(&mut self) -> *const f32 {
        self.mixer.take_peaks(&mut self.peaks);
        self.peaks.as_ptr()
    }

    /// How many peaks [`Self::take_peaks`] writes.
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
