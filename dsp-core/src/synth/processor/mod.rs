//! The synthesizer of one MIDI channel.
//!
//! | file | content |
//! |---|---|
//! | `state` | data, creation and reset of the synthesizer |
//! | `events` | events, controllers and pedals |
//! | `notes` | starts, releases and ends of notes |
//! | `render` | control points, output, and silent advance |
//! | `restore` | state after past events |

mod events;
mod notes;
mod render;
mod restore;
mod state;

pub(crate) use state::SynthProcessor;
