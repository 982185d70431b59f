//! Repeats a region of the session, exact to the frame.
//!
//! Notes and clips jump from the end of the region to its start. Releases of notes, tails and
//! oscillators of effects, and the delays that align signals continue. Automated settings ramp to
//! their values at the start within 10 ms. Behind effects with a latency, they do so earlier than
//! the signal by that latency.

use super::track::TrackSource;
use super::{LoopRegion, Mixer};

impl Mixer {
    /// Sets the region that playback repeats; `None` ends the repetition. Playback jumps when it
    /// reaches the end of the region. It does not jump if it is already at the end or after it.
    /// Allocates memory.
    pub fn set_loop(&mut self, region: Option<LoopRegion>) {
        self.loop_region = region;
        self.update_loop();
    }

    /// Passes the loop to the tracks, some of which an edit may have created.
    pub(super) fn update_loop(&mut self) {
        let region = self.loop_region;
        self.tracks.iter_mut().for_each(|track| track.set_loop(region));
        self.racks.iter_mut().chain([&mut self.graph.master.rack]).for_each(|rack| rack.set_loop(region));
    }

    /// Returns the number of frames until playback jumps to the start of the loop; `None` if it
    /// does not. A caller that fills external inputs renders at most that number of frames at a
    /// time.
    pub fn frames_to_jump(&self) -> Option<usize> {
        let region = self.loop_region.filter(|_| self.is_playing)?;
        region.frames_to_end(self.position_frames)
    }

    /// Returns the frame of the session that the last rendered frame of the output belongs to: the
    /// position, earlier by the latency. After a jump, the output still plays the end of the loop.
    pub fn output_frame(&self) -> u64 {
        let latency_frames = if self.is_playing { self.latency_frames() as u64 } else { 0 };
        match self.last_jump.filter(|region| region.start_frame + latency_frames > self.position_frames) {
            Some(region) if self.position_frames >= region.start_frame => {
                let behind_frames = region.start_frame + latency_frames - self.position_frames;
                region.end_frame - behind_frames.min(region.end_frame - region.start_frame)
            }
            _ => self.position_frames.saturating_sub(latency_frames),
        }
    }

    /// Advances the position by rendered frames, and jumps if it has reached the end of the loop.
    pub(super) fn advance(&mut self, frames: usize) {
        let frames_to_jump = self.frames_to_jump();
        self.position_frames += frames as u64;
        if let Some(region) = self.loop_region.filter(|_| frames_to_jump == Some(frames)) {
            self.position_frames = region.start_frame;
            self.last_jump = Some(region);
            self.tracks[..self.track_count].iter_mut().for_each(TrackSource::jump_to_loop_start);
            self.racks.iter_mut().for_each(|rack| rack.jump(region.start_frame));
            self.graph.jump(region.start_frame);
        }
    }
}
