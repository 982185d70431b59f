//! Tests SoundFonts through the real router, with real and generated banks.

mod catalogue;
mod hostile;
mod reduced;
pub(crate) mod small_banks;
mod uploads;
