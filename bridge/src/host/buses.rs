//! The audio buffers of a plugin's buses.

use songfoundry_bridge_protocol::host::{BUSES_MAX, Bus, CHANNELS_MAX};

use crate::module::FailureReason;

/// Number of channels that a plugin may use beyond those that it states, without effect.
const SPARE_CHANNELS: usize = 16;

/// The buses of a direction with a buffer for each channel.
pub(crate) struct Buses {
    /// Descriptions of the buses.
    pub(crate) descriptions: Vec<Bus>,
    /// The buffers of each bus, a vector of samples for each channel.
    pub(crate) buffers: Vec<Vec<Vec<f32>>>,
    /// The buffer of all channels that a plugin uses although it does not state them.
    spare: Vec<f32>,
    /// Index of the main bus.
    main: Option<usize>,
    /// Index of the side-chain.
    side_chain: Option<usize>,
}

impl Buses {
    /// Allocates the buffers. Returns an error if there are more buses or channels than the
    /// protocol permits. `direction` is used in the reason: `input` or `output`.
    pub(crate) fn new(
        descriptions: Vec<Bus>,
        direction: &str,
        block_frames_max: u32,
    ) -> Result<Self, FailureReason> {
        if descriptions.len() > BUSES_MAX {
            return Err(too_many(descriptions.len() as u64, &format!("{direction} buses"), BUSES_MAX as u64));
        }
        let channels = descriptions.iter().map(|bus| u64::from(bus.channels)).sum::<u64>();
        if channels > CHANNELS_MAX.into() {
            return Err(too_many(channels, &format!("{direction} channels"), CHANNELS_MAX.into()));
        }
        let silence = vec![0.0_f32; block_frames_max as usize];
        let buffers = descriptions.iter().map(|bus| vec![silence.clone(); bus.channels.into()]).collect();
        let main = descriptions.iter().position(|bus| bus.is_main);
        let side_chain = descriptions.iter().position(|bus| bus.is_side_chain);
        Ok(Self { descriptions, buffers, spare: silence, main, side_chain })
    }

    /// Returns the channels of the main bus; empty if there is none.
    pub(crate) fn main_mut(&mut self) -> &mut [Vec<f32>] {
        self.bus_mut(self.main)
    }

    /// Returns the channels of the side-chain; empty if there is none.
    pub(crate) fn side_chain_mut(&mut self) -> &mut [Vec<f32>] {
        self.bus_mut(self.side_chain)
    }

    fn bus_mut(&mut self, index: Option<usize>) -> &mut [Vec<f32>] {
        match index {
            Some(index) => &mut self.buffers[index],
            None => &mut [],
        }
    }

    /// Fills all buffers but those of the main bus and the side-chain with silence. Plugins may
    /// write to their inputs, so the caller calls this before each block.
    pub(crate) fn silence_others(&mut self) {
        self.spare.fill(0.0);
        for (index, bus) in self.buffers.iter_mut().enumerate() {
            if ![self.main, self.side_chain].contains(&Some(index)) {
                bus.iter_mut().for_each(|channel| channel.fill(0.0));
            }
        }
    }

    /// Fills all buses with silence. A plugin that does not write to its output is then silent.
    pub(crate) fn silence(&mut self) {
        self.buffers.iter_mut().flatten().for_each(|channel| channel.fill(0.0));
    }

    /// Returns a pointer to the samples of each channel, bus by bus.
    pub(crate) fn pointers(&mut self) -> Vec<Vec<*mut f32>> {
        let pointers = |bus: &mut Vec<Vec<f32>>| bus.iter_mut().map(|channel| channel.as_mut_ptr()).collect();
        self.buffers.iter_mut().map(pointers).collect()
    }

    /// Returns pointers that follow those of the last channel. Otherwise, a plugin that uses more
    /// channels than it states would write to any address.
    pub(crate) fn spare_pointers(&mut self) -> [*mut f32; SPARE_CHANNELS] {
        [self.spare.as_mut_ptr(); SPARE_CHANNELS]
    }
}

/// Returns the reason for refusing a plugin that states too many buses or channels.
pub(crate) fn too_many(count: u64, what: &str, limit: u64) -> FailureReason {
    format!("the plugin states {count} {what}; the maximum is {limit}")
}

/// Converts audio to another number of channels. Channels of equal number are copied. A mono source
/// is copied to every channel. A mono destination gets the mean of all channels, so that no channel
/// is lost and a centred sound keeps its level. Otherwise, the first channels are copied and the
/// others are silent.
pub(crate) fn convert_channels(source: &[&[f32]], destination: &mut [&mut [f32]]) {
    let count = destination.len();
    for (index, channel) in destination.iter_mut().enumerate() {
        match source {
            [mono] => channel.copy_from_slice(mono),
            [_, _, ..] if count == 1 => {
                let gain = 1.0 / source.len() as f32;
                for (frame, sample) in channel.iter_mut().enumerate() {
                    *sample = source.iter().map(|source| source[frame]).sum::<f32>() * gain;
                }
            }
            _ => match source.get(index) {
                Some(source) => channel.copy_from_slice(source),
                None => channel.fill(0.0),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>(source: &[&[f32]], expected: [[f32; 2]; N]) {
        let mut output = [[9.0_f32; 2]; N];
        let mut channels: Vec<&mut [f32]> = output.iter_mut().map(|channel| channel.as_mut_slice()).collect();
        convert_channels(source, &mut channels);
        assert_eq!(output, expected);
    }

    #[test]
    fn channels_are_converted() {
        let left = [1.0, 0.5].as_slice();
        let right = [0.0, -0.5].as_slice();
        check(&[left, right], [[1.0, 0.5], [0.0, -0.5]]);
        check(&[left], [[1.0, 0.5], [1.0, 0.5]]);
        check(&[left, right], [[0.5, 0.0]]);
        check(&[left, right], [[1.0, 0.5], [0.0, -0.5], [0.0, 0.0]]);
        check(&[left, right, left], [[1.0, 0.5], [0.0, -0.5]]);
        check(&[], [[0.0, 0.0], [0.0, 0.0]]);
        check(&[left], []);
    }

    #[test]
    fn too_many_buses_or_channels_are_refused() {
        let bus = |channels| Bus { name: String::new(), channels, is_main: false, is_side_chain: false };
        let error = Buses::new(vec![bus(60_000), bus(60_000)], "output", 64).err();
        assert_eq!(error.as_deref(), Some("the plugin states 120000 output channels; the maximum is 128"));
        let error = Buses::new(vec![bus(1); 65], "input", 64).err();
        assert_eq!(error.as_deref(), Some("the plugin states 65 input buses; the maximum is 64"));
    }
}
