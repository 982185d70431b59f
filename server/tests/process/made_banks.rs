//! Generated SoundFont banks: small playable banks, and tiny banks that need much time or memory.

#[expect(unused_imports, reason = "the tests of dsp-core use the other items")]
#[path = "../../../dsp-core/tests/maker/mod.rs"]
mod maker;
#[path = "../../../dsp-core/tests/maker/sf3.rs"]
mod sf3;
#[path = "../../../dsp-core/tests/maker/streams.rs"]
mod streams;

pub(crate) use maker::Tables;
pub(crate) use sf3::sf3;
pub(crate) use streams::silent;
