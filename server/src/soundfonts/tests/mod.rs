//! SoundFonts through the real router, with real and generated banks.

mod catalogue;
mod hostile;
mod made;
mod reduced;
mod uploads;
