//! SoundFonts through the real router, with real banks and made ones.

mod catalogue;
mod hostile;
mod made;
mod reduced;
mod uploads;
