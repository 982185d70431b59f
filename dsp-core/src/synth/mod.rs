//! SoundFont synthesis: the synthesizer of a track, and the reverb and chorus that all tracks
//! share.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.
//!
//! A `SynthProcessor` plays one MIDI channel. Envelopes, LFOs and controllers update at *control
//! points*. These are events, corners of envelopes, and the frames of a grid whose spacing depends
//! on how fast the voice changes. Between two control points gains and filter coefficients ramp
//! linearly. Control points depend on the events and on the frame of the last reset, never on the
//! number of frames of a call.
//!
//! Each voice reads its sample and is mixed on its own, several frames at a time. The filters of
//! eight voices run in lockstep, because each output of a filter depends on the output before it.
//!
//! A voice ends when its level is below -96 dBFS and no controller can raise it.
//!
//! Where the specification leaves a choice, the synthesizer chooses as follows. Initial attenuation
//! counts 0.4 times, as in other players. Controller 10 pans by 500 to either side, not 1000. A
//! delay of -12000 timecents is none. RPN 0 makes the range of the pitch wheel exact. A note lasts
//! at least 10 ms. Portamento time doubles every 12 steps. The soft pedal attenuates by 3 dB. The
//! NRPNs of the Sound Blaster AWE32 (MSB 127, LSB 0 to 26) replace values of the bank. Those that
//! the card's manual calls realtime also change playing notes.
//!
//! | module | content |
//! |---|---|
//! | `processor` | events, notes, control points and rendering of one channel |
//! | `channel`, `awe32` | state of the channel: controllers, (N)RPNs |
//! | `note_start`, `voice`, `voice_pool` | voices, from start to end |
//! | `modulators`, `voice_params` | generators and modulators of a voice in the engine's units |
//! | `envelope`, `lfo`, `filter`, `portamento` | parts of a voice |
//! | `sample_reader`, `interpolation` | from sample data to a voice's signal |
//! | `filter_bank`, `gain_ramps`, `voice_mix` | from the voices' signals to the outputs of the track |
//! | `reverb`, `chorus` | shared effects |

mod awe32;
mod awe32_table;
mod bank_select;
mod cached_gain;
mod channel;
pub mod chorus;
mod chunk;
mod config;
mod control_grid;
mod controllers;
mod curves;
mod envelope;
mod filter;
mod filter_bank;
mod gain_ramps;
mod generator_values;
mod interpolation;
mod lfo;
mod modulators;
mod note_start;
mod portamento;
mod processor;
pub mod reverb;
mod sample_reader;
mod units;
mod voice;
mod voice_mix;
mod voice_params;
mod voice_pool;

pub use bank_select::{DRUM_BANK, selected_bank};
pub(crate) use config::SynthConfig;
pub use config::SynthError;
pub(crate) use processor::SynthProcessor;
