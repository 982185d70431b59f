//! Analysis of a recording: spectrum, tempo and key. Tempo and key are estimates, which a person
//! should check.

mod analyzer;
mod key;
mod spectrum;
mod tempo;
#[cfg(test)]
mod tests;

pub use analyzer::{Analysis, Analyzer};
pub use key::{Key, Mode};
pub use spectrum::ThirdOctave;
pub use tempo::Tempo;
