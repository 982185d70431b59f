//! The synthesizer of one MIDI channel.
//!
//! | file | content |
//! |---|---|
//! | `state` | the synthesizer's data, creation and reset |
//! | `events` | events, controllers and pedals |
//! | `notes` | starts, releases and ends of notes |
//! | `render` | control points, output, and silent advance |
//! | `restore` | the state after past events |

mod events;
mod notes;
mod render;
mod restore;
mod state;

pub(crate) use state::SynthProcessor;
