//! Broken and hostile banks: each is refused by name, or played without what is wrong with it. None
//! makes the engine panic, take much more memory than the file has bytes or ask for some more
//! often, or play on without an end. Work is counted, in requests for memory, calls, voices and
//! frames, not timed.

mod counting;
#[path = "../maker/mod.rs"]
mod maker;

mod corpus;
mod floods;
mod modulators;
mod playing;
#[cfg(feature = "vorbis")]
mod preparing;
mod samples;
#[cfg(feature = "vorbis")]
#[path = "../maker/sf3.rs"]
mod sf3;
#[cfg(feature = "vorbis")]
#[path = "../maker/streams.rs"]
mod streams;
mod structure;
#[cfg(feature = "vorbis")]
mod undecodable;
#[cfg(feature = "vorbis")]
mod vorbis;
mod zones;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
