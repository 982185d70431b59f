//! Broken and hostile banks: each is refused with a reason, or played without its invalid parts.
//! None may make the engine panic or play without end. Memory is limited to a small multiple of the
//! file size, and so are allocations. Work is counted in allocations, calls, voices and frames, not
//! timed.

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
