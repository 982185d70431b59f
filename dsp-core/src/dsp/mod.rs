//! Building blocks of signal processing, without any knowledge of music, effects or sessions.
//!
//! | module | what |
//! |---|---|
//! | `window` | Kaiser window, sinc, windowed-sinc low-pass |
//! | `fft` | discrete Fourier transform |
//! | `lanes` | eight `f32` values computed together |
//! | `delay_line` | delay by a fixed number of frames |
//! | `declicker` | removes the click where one signal replaces another |

pub(crate) mod declicker;
pub(crate) mod delay_line;
pub(crate) mod fft;
pub(crate) mod lanes;
pub(crate) mod window;
