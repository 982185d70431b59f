//! Tests of broken and hostile banks. The engine refuses such a bank with a reason, or plays it
//! without its invalid parts. No bank may make the engine panic or play without end. The memory and
//! the number of allocations are limited to a small multiple of the file size. The tests count
//! allocations, calls, voices and frames; they measure no time.

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
