//! The parts of the data that a processor gets with each block.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use songfoundry_bridge_protocol::host::Transport;
use vst3::Steinberg::Vst::ProcessContext_::StatesAndFlags_::{
    kBarPositionValid, kContTimeValid, kPlaying, kProjectTimeMusicValid, kTempoValid, kTimeSigValid,
};
use vst3::Steinberg::Vst::{AudioBusBuffers, AudioBusBuffers__type0, ProcessContext};

/// Returns the position and tempo of a block. `frames` is the number of frames processed before.
pub(super) fn process_context(transport: &Transport, sample_rate_hz: f64, frames: i64) -> ProcessContext {
    // SAFETY: numbers, for which all zeros are valid.
    let mut context: ProcessContext = unsafe { std::mem::zeroed() };
    let flags = kContTimeValid | kProjectTimeMusicValid | kTempoValid | kBarPositionValid | kTimeSigValid;
    context.state = (flags as i32).cast_unsigned();
    if transport.is_playing {
        context.state |= (kPlaying as i32).cast_unsigned();
    }
    context.sampleRate = sample_rate_hz;
    context.projectTimeSamples = transport.position_frames;
    context.continousTimeSamples = frames;
    context.projectTimeMusic = transport.position_quarters;
    context.barPositionMusic = transport.bar_start_quarters;
    context.tempo = transport.tempo_bpm;
    context.timeSigNumerator = transport.numerator.into();
    context.timeSigDenominator = transport.denominator.into();
    context
}

/// Returns the buffers of buses, given the pointers to the samples of their channels. Appends the
/// spare pointers to those of each bus.
pub(super) fn bus_buffers(pointers: &mut [Vec<*mut f32>], spare: &[*mut f32]) -> Vec<AudioBusBuffers> {
    let buffers = |bus: &mut Vec<*mut f32>| {
        let channels = bus.len() as i32;
        bus.extend(spare);
        AudioBusBuffers {
            numChannels: channels,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: bus.as_mut_ptr() },
        }
    };
    pointers.iter_mut().map(buffers).collect()
}
