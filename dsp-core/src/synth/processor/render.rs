//! Advances the synthesizer from one control point to the next, with or without output.

use super::super::chunk::CHUNK_FRAMES;
use super::super::voice::VoiceContext;
use super::state::SynthProcessor;
use crate::block::{ActiveOutputs, TRACK_OUTPUTS};

/// Cost of an update of a voice's parameters, in the unit of [`SynthProcessor::steps`].
const UPDATE_STEPS: u64 = 4;

/// Cost of the filter of a voice for a chunk, in the unit of [`SynthProcessor::steps`].
const FILTER_STEPS: u64 = 3;

impl SynthProcessor {
    /// Renders left, right, reverb send and chorus send of a block, starting with frame
    /// `rendered_frames`. Writes only the `active_outputs`. If a voice becomes audible on another
    /// output, this output becomes active, and its frames before the voice are filled with silence.
    pub(crate) fn render(
        &mut self,
        mut block: [&mut [f32]; TRACK_OUTPUTS],
        mut rendered_frames: usize,
        active_outputs: &mut ActiveOutputs,
    ) {
        let frames = block[0].len();
        while rendered_frames < frames {
            let chunk_frames = self.begin_chunk(frames - rendered_frames, CHUNK_FRAMES);
            let written_outputs = if self.voices.is_empty() {
                [false; TRACK_OUTPUTS]
            } else {
                let mut outputs = block
                    .each_mut()
                    .map(|output| &mut output[rendered_frames..rendered_frames + chunk_frames]);
                self.voices.render(&self.bank, &self.kernel, &mut outputs)
            };
            for ((output, is_active), is_written) in
                block.iter_mut().zip(&mut *active_outputs).zip(written_outputs)
            {
                match (*is_active, is_written) {
                    (true, false) => output[rendered_frames..rendered_frames + chunk_frames].fill(0.0),
                    (false, true) => output[..rendered_frames].fill(0.0),
                    _ => {}
                }
                *is_active |= is_written;
            }
            rendered_frames += chunk_frames;
            self.clock += chunk_frames as u64;
        }
    }

    /// Advances by some frames without output. The voices get the same state as with output. The
    /// past inputs and outputs of their filters are computed only if `runs_filters` is true, which
    /// is slower. Stops early if [`Self::steps`] exceeds `max_steps`.
    pub(crate) fn skip(&mut self, mut frames: u64, runs_filters: bool, max_steps: u64) {
        let longest = if runs_filters { CHUNK_FRAMES } else { usize::MAX };
        while frames > 0 && self.steps <= max_steps {
            let chunk_frames = self.begin_chunk(usize::try_from(frames).unwrap_or(usize::MAX), longest);
            if runs_filters {
                self.voices.skip_with_filters(&self.bank, &self.kernel, chunk_frames);
                self.steps += FILTER_STEPS * self.active_voices() as u64;
            } else {
                self.voices.skip(&self.bank, chunk_frames);
            }
            frames -= chunk_frames as u64;
            self.clock += chunk_frames as u64;
        }
    }

    /// Fades all voices in from silence. It is called after [`Self::skip`].
    pub(crate) fn fade_in(&mut self) {
        self.voices.fade_in(self.clock, self.sample_rate_hz);
    }

    /// Processes a control point if one is due. Returns the number of frames to compute next, at
    /// most `frames`. If there are voices, the number is also at most `longest` and does not pass
    /// the next control point.
    fn begin_chunk(&mut self, frames: usize, longest: usize) -> usize {
        if self.frames_to_control_point == 0 {
            self.start_segments();
        }
        if self.voices.is_empty() {
            self.frames_to_control_point = 0;
            return frames;
        }
        let chunk_frames = (self.frames_to_control_point as usize).min(frames).min(longest);
        self.frames_to_control_point -= chunk_frames as u32;
        chunk_frames
    }

    /// Starts new segments of the voices whose segments are over. All voices start a segment after
    /// events and at the frames of the coarse grid.
    fn start_segments(&mut self) {
        let clock = self.clock;
        let has_new_controllers = core::mem::take(&mut self.has_new_controllers);
        let grid = self.grid;
        let to_grid = |grid_frames: u32| grid_frames - (clock % u64::from(grid_frames)) as u32;
        let is_on_grid = to_grid(grid.coarse_frames()) == grid.coarse_frames();
        let starts_all = core::mem::take(&mut self.has_new_events) || is_on_grid;
        let (kernel, bank) = (&self.kernel, &self.bank);
        let sample_rate_hz = self.sample_rate_hz;
        let velocity_to_cutoff = self.velocity_to_cutoff;
        let channel = &self.channel;
        let context = VoiceContext { bank, channel, sample_rate_hz, velocity_to_cutoff, grid, clock };
        self.frames_to_control_point = to_grid(grid.coarse_frames());
        let (segment_frames, steps) = (&mut self.frames_to_control_point, &mut self.steps);
        self.voices.update(starts_all, |voice, ramp_clock| {
            if starts_all || voice.is_segment_over(clock) {
                voice.advance_to(clock);
                if is_on_grid {
                    voice.filter.bound_state();
                }
                if voice.has_ended(kernel) || voice.is_inaudible(bank) {
                    return false;
                }
                *steps += 1;
                if has_new_controllers {
                    voice.update_params_smoothly(context);
                    *steps += UPDATE_STEPS;
                }
                // A release that is due is applied first, because it may need a finer grid.
                let to_release = voice.frames_to_release(clock);
                let frames = to_grid(voice.grid_frames(grid));
                let corners = [to_release, voice.frames_to_corner(), voice.frames_to_silence()];
                let frames = corners.into_iter().flatten().fold(frames, u32::min);
                voice.start_segment(frames, ramp_clock, sample_rate_hz);
            }
            *segment_frames = (*segment_frames).min(voice.remaining_segment_frames(clock));
            true
        });
    }
}
