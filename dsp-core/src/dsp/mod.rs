//! Building blocks of signal processing, without any knowledge of music, effects or sessions.
//!
//! | module | content |
//! |---|---|
//! | `window` | Kaiser window, sinc, windowed-sinc low-pass |
//! | `fft` | discrete Fourier transform |
//! | `lanes` | eight `f32` values computed together |
//! | `control` | control points on a clock, and linear ramps between them |
//! | `control_block` | short blocks of audio in arrays |
//! | `stereo_frames` | stereo audio in double precision |
//! | `memory` | number of bytes in buffers |
//! | `decibels` | fast conversion between magnitudes and decibels |
//! | `denormals` | removal of denormal numbers |
//! | `equal_power` | gains of an equal-power mix |
//! | `phase` | phases of oscillators, and their sine |
//! | `ring_buffer` | delay by a fixed number of frames, accessed as slices |
//! | `delay_line` | delay by a number of frames, which may change without a click |
//! | `tapped_delay_line` | delay line with several taps, read and written in blocks |
//! | `compact_delay_line` | delay line whose buffer is exactly as long as its delay |
//! | `fractional_delay_line` | delay line with fractional, modulated delays |
//! | `tap_crossfade` | crossfade between the taps of delay lines |
//! | `smoothed_value` | value that ramps linearly to its target |
//! | `sliding_minimum` | minimum of the last values |
//! | `gate` | fades a signal in and out |
//! | `declicker` | removes the click where one signal replaces another |
//! | `cut_filters` | low cut and high cut of first order |
//! | `filter_section` | second-order filter sections whose coefficients ramp |
//! | `band_split` | split into three bands at a smoothed frequency |
//! | `oversampling` | oversampling by eight |
//! | `waveshaper` | distortion curves with little aliasing |
//! | `level_detector` | peak and RMS level |
//! | `envelope_follower` | envelope with attack and release |
//! | `gain_computer` | static curve of a compressor |
//! | `ballistics` | attack and release of a gain reduction |
//! | `true_peak_limit` | gain that keeps the true peak below a ceiling |

pub(crate) mod ballistics;
pub(crate) mod band_split;
pub(crate) mod compact_delay_line;
pub(crate) mod control;
pub(crate) mod control_block;
pub(crate) mod cut_filters;
pub(crate) mod decibels;
pub(crate) mod declicker;
pub(crate) mod delay_line;
pub(crate) mod denormals;
pub(crate) mod envelope_follower;
pub(crate) mod equal_power;
pub(crate) mod fft;
pub(crate) mod filter_section;
pub(crate) mod fractional_delay_line;
pub(crate) mod gain_computer;
pub(crate) mod gate;
pub(crate) mod lanes;
pub(crate) mod level_detector;
pub(crate) mod memory;
pub(crate) mod oversampling;
pub(crate) mod phase;
pub(crate) mod ring_buffer;
pub(crate) mod sliding_minimum;
pub(crate) mod smoothed_value;
pub(crate) mod stereo_frames;
pub(crate) mod tap_crossfade;
pub(crate) mod tapped_delay_line;
pub(crate) mod true_peak_limit;
pub(crate) mod waveshaper;
pub(crate) mod window;
