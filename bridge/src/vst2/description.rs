//! The channels, programs and parameters of an effect.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use songfoundry_bridge_protocol::host::{Bus, PROGRAMS_MAX};

use super::effect::{IS_SYNTH, Instance, Request};
use crate::host::bounds::bounded_text;
use crate::host::buses::Buses;
use crate::module::FailureReason;

/// Number of channels of the main bus. VST2 plugins state only a number of channels; those beyond
/// the second are side-chains or further outputs.
const MAIN_CHANNELS_MAX: i32 = 2;

impl Instance {
    /// Returns the selected program of a plugin with this number of programs.
    pub(super) fn program(&self, programs: u32) -> Option<u32> {
        let program = u32::try_from(self.request(Request::Program)).ok()?;
        Some(program).filter(|program| *program < programs)
    }

    /// Selects the program with this index.
    pub(super) fn select_program(&self, index: u32) {
        self.request(Request::BeginSetProgram);
        self.request_with(Request::SetProgram, 0, index as isize, std::ptr::null_mut(), 0.0);
        self.request(Request::EndSetProgram);
    }
}

/// Returns the names of the programs of a new plugin. If a plugin does not return names by index,
/// each program is selected to read its name.
pub(super) fn program_names(instance: &Instance, programs: u32) -> Vec<String> {
    let programs = programs.min(PROGRAMS_MAX as u32);
    // The value -1 is the category in older versions of VST2: all of them.
    let name = |index: u32| instance.request_text_of(Request::ProgramNameIndexed, index.cast_signed(), -1).1;
    let names: Vec<String> = (0..programs).map(|index| bounded_text(&name(index))).collect();
    let Some(selected_program) = instance.program(programs) else { return names };
    if names.iter().any(|name| !name.is_empty()) {
        return names;
    }
    let selected_name = |index| {
        // Selecting a program may change a plugin, so a plugin with one program keeps its
        // selection.
        if programs > 1 {
            instance.select_program(index);
        }
        bounded_text(&instance.request_text(Request::ProgramName).1)
    };
    let names = (0..programs).map(selected_name).collect();
    if programs > 1 {
        instance.select_program(selected_program);
    }
    names
}

/// Returns the inputs and outputs with the channels that an effect states.
pub(super) fn buses(instance: &Instance, block_frames_max: u32) -> Result<(Buses, Buses), FailureReason> {
    let (inputs, outputs, flags) = instance.read(|effect| (effect.inputs, effect.outputs, effect.flags));
    // The input of an effect has no more channels than its output: the second input of a mono
    // effect is a side-chain. The input of an instrument is not a main input.
    let main_inputs = match flags & IS_SYNTH != 0 {
        true => 0,
        false => inputs.min(outputs.max(1)).min(MAIN_CHANNELS_MAX),
    };
    Ok((
        Buses::new(split_buses(inputs, main_inputs, main_inputs > 0), "input", block_frames_max)?,
        Buses::new(split_buses(outputs, outputs.min(MAIN_CHANNELS_MAX), false), "output", block_frames_max)?,
    ))
}

/// Divides channels into a main bus and one with all others, which may be a side-chain.
fn split_buses(channels: i32, main_channels: i32, has_side_chain: bool) -> Vec<Bus> {
    let bus = |channels: i32, is_main: bool| Bus {
        name: String::new(),
        channels: channels.clamp(0, u16::MAX.into()) as u16,
        is_main,
        is_side_chain: has_side_chain && !is_main,
    };
    let buses = [bus(main_channels, true), bus(channels.saturating_sub(main_channels), false)];
    buses.into_iter().filter(|bus| bus.channels > 0).collect()
}

/// The structure `VstParameterProperties` of VST 2.4.
#[repr(C)]
pub(super) struct Properties {
    steps: [f32; 3],
    label: [u8; 64],
    flags: i32,
    minimum: i32,
    maximum: i32,
    integer_steps: [i32; 2],
    short_label: [u8; 8],
    display: [i16; 4],
    category_label: [u8; 24],
    future: [u8; 16],
    /// Room for plugins that write beyond the structure.
    excess: [u8; 256],
}

impl Properties {
    /// Returns the properties of a parameter, if the plugin states them.
    pub(super) fn of(instance: &Instance, index: u32) -> Option<Self> {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut properties: Self = unsafe { std::mem::zeroed() };
        let data = (&raw mut properties).cast();
        let answer = instance.request_with(Request::ParameterProperties, index.cast_signed(), 0, data, 0.0);
        (answer == 1).then_some(properties)
    }

    /// Returns the short name of the parameter; empty if the plugin states none.
    pub(super) fn short_name(&self) -> String {
        let length = self.short_label.iter().position(|byte| *byte == 0).unwrap_or(self.short_label.len());
        bounded_text(&String::from_utf8_lossy(&self.short_label[..length]))
    }

    /// Returns the number of steps, as in the protocol.
    pub(super) fn step_count(&self) -> u32 {
        const IS_SWITCH: i32 = 1;
        const HAS_INTEGER_RANGE: i32 = 1 << 1;
        if self.flags & IS_SWITCH != 0 {
            1
        } else if self.flags & HAS_INTEGER_RANGE != 0 {
            u32::try_from(i64::from(self.maximum) - i64::from(self.minimum)).unwrap_or(0)
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_beyond_the_main_ones_are_another_bus() {
        let check = |channels, main, expected: &[(u16, bool)]| {
            let buses = split_buses(channels, main, true);
            assert!(buses.iter().all(|bus| bus.is_side_chain != bus.is_main));
            let bus_layouts: Vec<(u16, bool)> = buses.iter().map(|bus| (bus.channels, bus.is_main)).collect();
            assert_eq!(bus_layouts, expected);
        };
        check(2, 2, &[(2, true)]);
        check(6, 2, &[(2, true), (4, false)]);
        check(2, 1, &[(1, true), (1, false)]);
        check(0, 0, &[]);
        check(-3, -3, &[]);
        check(i32::MAX, 2, &[(2, true), (u16::MAX, false)]);
    }
}
