//! Analysis of a recording: spectrum, tempo, key, and how stereo sounds in mono. Tempo and key are
//! estimates, which a person should check.

mod analyzer;
mod key;
mod spectrum;
mod stereo_check;
mod tempo;
#[cfg(test)]
mod tests;

pub use analyzer::{Analysis, Analyzer};
pub use key::{Key, Mode};
pub use spectrum::ThirdOctave;
pub use stereo_check::{OctaveCheck, StereoCheck, StereoChecker};
pub use tempo::Tempo;
