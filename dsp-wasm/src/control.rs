//! Carries out the commands that the page sends to the engine.

use dsp_core::meters::MasterMeter;
use dsp_core::metronome::{BeatGrid, TimeSignature};
use dsp_core::mixer::{EffectOwner, LoopRegion, TrackMix};
use dsp_core::session::Event;
use dsp_core::tempo::TempoMap;
use wasm_bindgen::prelude::*;

use crate::engine::WasmEngine;
use crate::messages::{ControlCommand, EffectName};

#[wasm_bindgen]
impl WasmEngine {
    /// Carries out a command.
    ///
    /// # Errors
    ///
    /// The command is unknown or has an invalid field, or the session cannot be played without a
    /// removed bank or audio file.
    #[wasm_bindgen(js_name = carryOut)]
    pub fn carry_out(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "ControlCommand")] command: JsValue,
    ) -> Result<(), JsError> {
        use ControlCommand as Command;
        let command: Command = serde_wasm_bindgen::from_value(command).map_err(|error| {
            JsError::new(&format!("the command is unknown or a field of it is invalid: {error}"))
        })?;
        match command {
            Command::Play { count_in_bars } => {
                self.metronome.begin_count_in(self.mixer.position_frames(), count_in_bars);
                if self.metronome.count_in_frames() == 0 {
                    self.play();
                }
            }
            Command::Stop => {
                self.metronome.stop();
                self.mixer.stop();
            }
            Command::Seek { frame } => {
                // A seek ends a count-in, and playback begins.
                let counts_in = self.metronome.count_in_frames() > 0;
                self.metronome.stop();
                self.mixer.seek(frame as u64);
                self.reset_meters_at_start();
                if counts_in {
                    self.play();
                }
            }
            Command::SetLoop { region } => {
                let region = region
                    .and_then(|range| LoopRegion::new(range.start_frame as u64, range.end_frame as u64));
                self.mixer.set_loop(region);
            }
            Command::SetMetronome { on, gain } => self.metronome.set(on, gain),
            Command::SetBeats { tempo, signatures } => {
                let tempo: Vec<_> = tempo.iter().map(|point| (point.tick, point.bpm)).collect();
                let signatures = signatures.iter().map(|signature| TimeSignature {
                    tick: signature.tick,
                    numerator: signature.numerator,
                    denominator: signature.denominator,
                });
                self.metronome.set_grid(BeatGrid::new(TempoMap::from_bpm(&tempo)?, signatures.collect())?);
            }
            Command::SetController { track_id, controller, value } => {
                let (controller, value) = (controller.min(127), value.min(127));
                self.play_event(&track_id, Event::Controller { controller, value });
            }
            Command::SetPitchBend { track_id, value } => {
                self.play_event(&track_id, Event::PitchBend { value: value.clamp(-8192, 8191) });
            }
            Command::NoteOn { track_id, key, velocity } => {
                let (key, velocity) = (key.min(127), velocity.clamp(1, 127));
                self.live_notes.press(&track_id, key, velocity);
                self.play_event(&track_id, Event::NoteOn { key, velocity });
            }
            Command::NoteOff { track_id, key } => {
                self.live_notes.release(&track_id, key.min(127));
                self.play_event(&track_id, Event::NoteOff { key: key.min(127) });
            }
            Command::AllNotesOff => {
                self.live_notes.release_all();
                self.mixer.release_all();
            }
            Command::SetTrackMix { track_id, gain, pan, mute, solo } => {
                if let Some(track) = self.mixer.track_index(&track_id) {
                    self.mixer.set_track_mix(track, &TrackMix { gain, pan, is_muted: mute, is_soloed: solo });
                }
            }
            Command::SetSendGain { track_id, send, gain } => {
                if let Some(track) = self.mixer.track_index(&track_id) {
                    self.mixer.set_send_gain(track, send, gain);
                }
            }
            Command::SetMasterGain { gain } => self.mixer.set_master_gain(gain),
            Command::SetEffectParameter { effect, parameter, value } => {
                if let Some((owner, effect)) = self.effect(&effect)
                    && let Some(parameter) = self.mixer.parameter_index(owner, effect, &parameter)
                {
                    self.mixer.set_effect_parameter(owner, effect, parameter, value);
                }
            }
            Command::SetEffectBypass { effect, bypass } => {
                if let Some((owner, effect)) = self.effect(&effect) {
                    self.mixer.set_effect_bypass(owner, effect, bypass);
                }
            }
            Command::SetBypass { track_id, bypass } => {
                if let Some(owner) = self.owner(track_id.as_deref()) {
                    self.mixer.set_bypass(owner, bypass);
                }
            }
            Command::WatchReductions { effects } => self.watched = effects,
            Command::WatchMeters { watch } => {
                if watch != self.meter.is_some() {
                    self.meter = watch.then(|| Box::new(MasterMeter::new(self.sample_rate_hz)));
                }
            }
            Command::SetInsert { track_id, latency_frames } => {
                if let Some(owner) = self.owner(track_id.as_deref()) {
                    self.mixer.set_insert(owner, latency_frames.map(|frames| frames as usize));
                    self.metronome.set_latency(self.mixer.latency_frames());
                }
            }
            Command::ResetMeters => self.meter.iter_mut().for_each(|meter| meter.restart()),
            Command::DropBank { slot } => self.drop_bank(slot)?,
            Command::DropAudio { slot } => self.set_audio(slot, None)?,
        }
        Ok(())
    }

    fn play_event(&mut self, track_id: &str, event: Event) {
        if let Some(track) = self.mixer.track_index(track_id) {
            self.mixer.play_event(track, event);
        }
    }
}

impl WasmEngine {
    pub(crate) fn owner(&self, track_id: Option<&str>) -> Option<EffectOwner> {
        match track_id {
            Some(id) => self.mixer.track_index(id).map(EffectOwner::Track),
            None => Some(EffectOwner::Master),
        }
    }

    /// Returns the owner of an effect and the effect's index in the owner's rack.
    pub(crate) fn effect(&self, name: &EffectName) -> Option<(EffectOwner, usize)> {
        let owner = self.owner(name.track_id.as_deref())?;
        Some((owner, self.mixer.effect_index(owner, &name.effect_id)?))
    }
}
