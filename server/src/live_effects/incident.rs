//! Tells a repeated fault once.

use dsp_core::mixer::LIVE_BLOCK_FRAMES;

/// A fault that the client is told once, until there was a second of sound without it.
#[derive(Debug, Default)]
pub(super) struct Incident {
    is_open: bool,
    good_frames: u64,
}

impl Incident {
    /// Counts a block. Returns whether the client must be told of the fault.
    pub(super) fn count(&mut self, is_fault: bool, sample_rate_hz: u32) -> bool {
        if is_fault {
            self.good_frames = 0;
            return !std::mem::replace(&mut self.is_open, true);
        }
        self.good_frames += LIVE_BLOCK_FRAMES as u64;
        self.is_open &= self.good_frames < u64::from(sample_rate_hz);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_again_after_a_second_without_it() {
        let mut incident = Incident::default();
        let mut count = |is_fault| incident.count(is_fault, 48_000);
        assert_eq!([true, true, false, true].map(&mut count), [true, false, false, false]);
        assert!(!(0..187).map(|_| false).any(&mut count) && !count(true));
        assert!(!(0..188).map(|_| false).any(&mut count) && count(true));
    }
}
