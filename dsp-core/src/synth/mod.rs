//! SoundFont synthesis: the synthesizer of a track, and the reverb and chorus that all tracks
//! share.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.
//!
//! A `SynthProcessor` plays one MIDI channel. Envelopes, LFOs and controllers update at *control
//! points*. Control points are at events, at the corners of envelopes, and at the frames of a grid.
//! The spacing of the grid depends on how fast the voice changes. Gains and filter coefficients
//! ramp linearly between control points. Control points do not depend on the call size.
//!
//! Samples are read and mixed voice by voice, with several frames in each SIMD instruction. Filters
//! instead process the same frame of several voices together, because each output of a filter
//! depends on its previous output.
//!
//! A voice ends when its level is below -96 dBFS and no controller can raise it.
//!
//! The synthesizer differs from the specification, or goes beyond it, as follows:
//! - Initial attenuation is multiplied by 0.4, as in other players.
//! - Controller 10 pans by 500 tenths of a per cent to either side instead of 1000.
//! - A delay of -12000 timecents is no delay.
//! - The pitch wheel bends by exactly the range of RPN 0.
//! - A note lasts at least 10 ms.
//! - The portamento time doubles with every 12 steps of controller 5.
//! - The soft pedal attenuates by 3 dB.
//! - The NRPNs of the Sound Blaster AWE32 (MSB 127, LSB 0 to 26) replace values of the bank. Those
//!   that the manual of the card calls realtime also change active notes.
//!
//! | module | content |
//! |---|---|
//! | `processor` | events, notes, control points and rendering of one channel |
//! | `later_values` | past events that later events replace |
//! | `channel`, `awe32` | state of the channel: controllers, RPNs and NRPNs |
//! | `note_start`, `voice`, `voice_pool` | starts, states and ends of voices |
//! | `modulators`, `voice_params` | generators and modulators of a voice in the engine's units |
//! | `envelope`, `lfo`, `filter`, `portamento` | parts of a voice |
//! | `sample_reader`, `interpolation` | reading of samples at any speed |
//! | `filter_bank`, `gain_ramps`, `voice_mix` | filters, gains and mixing of voices |
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
mod later_values;
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
pub(crate) use later_values::LaterValues;
pub(crate) use processor::SynthProcessor;
