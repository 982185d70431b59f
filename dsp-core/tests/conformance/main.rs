//! SoundFont 2.04, clause by clause: each test plays a small bank made for it and asserts a figure.
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.

#[path = "../maker/mod.rs"]
mod maker;
mod measure;
mod rig;

mod channel;
mod default_modulators;
mod envelopes;
mod filter;
mod generator;
mod modulators;
mod mono;
mod notes;
mod oscillators;
mod outputs;
mod pitch;
mod places;
mod samples;
mod stealing;
mod voices;
mod zones;
