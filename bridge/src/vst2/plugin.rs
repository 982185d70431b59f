//! Hosts a VST2 plugin.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::path::Path;

use songfoundry_bridge_protocol::host::{
    Bus, Event, EventKind, Opened, PARAMETERS_MAX, PROGRAMS_MAX, Parameter, ParameterValue, PresetFormat,
    Tail, Transport,
};
use songfoundry_bridge_protocol::{PluginFormat, ScannedPlugin};

use super::callback::{
    ChangedParameters, set_current_id, set_format, set_transport, take_changed_parameters, take_io_changed,
};
use super::effect::{CAN_REPLACE, HAS_EDITOR, IS_SYNTH, Instance, ProcessReplacing, Request, load_main};
use super::midi::MidiBlock;
use super::preset::{Content, Preset};
use super::state::ChunkKind;
use crate::host::bounds::{bounded_latency, bounded_tail, bounded_text};
use crate::host::buses::{Buses, too_many};
use crate::host::plugin::{Block, Format, HostedPlugin};
use crate::host::state::{PartKind, StoredState};
use crate::module::FailureReason;

/// Number of channels of the main bus. VST2 plugins state only a number of channels; those beyond
/// the second are side-chains or further outputs.
const MAIN_CHANNELS_MAX: i32 = 2;

/// A VST2 plugin that is open and active.
pub(crate) struct Vst2Plugin {
    instance: Instance,
    process_replacing: ProcessReplacing,
    description: ScannedPlugin,
    format: Format,
    inputs: Buses,
    outputs: Buses,
    /// The last known value of each parameter.
    values: Vec<f32>,
    /// The value of each parameter of the new plugin.
    default_values: Vec<f32>,
    programs: u32,
    program_names: Vec<String>,
}

impl Vst2Plugin {
    /// Loads a module, creates the plugin with the id, and activates it.
    pub(crate) fn open(module: &Path, plugin_id: &str, format: Format) -> Result<Self, FailureReason> {
        let unique_id = u32::from_str_radix(plugin_id, 16).map_err(|_| {
            format!("the id of a VST2 plugin must have 8 hexadecimal digits, not {plugin_id:?}")
        })?;
        set_format(format.sample_rate_hz, format.block_frames_max);
        let main = load_main(module)?;
        set_current_id(unique_id.cast_signed());
        let instance = Instance::create(main)?;
        let found = instance.read(|effect| effect.unique_id.cast_unsigned());
        if found != unique_id {
            return Err(format!("the module contains the plugin {found:08X}, but not {plugin_id}"));
        }
        instance.request(Request::Open);
        let process_replacing = instance
            .read(|effect| effect.process_replacing.filter(|_| effect.flags & CAN_REPLACE != 0))
            .ok_or("the plugin has no function `processReplacing`")?;
        instance.request_with(
            Request::SetSampleRate,
            0,
            0,
            std::ptr::null_mut(),
            format.sample_rate_hz as f32,
        );
        let block_frames_max = format.block_frames_max as isize;
        instance.request_with(Request::SetBlockSize, 0, block_frames_max, std::ptr::null_mut(), 0.0);
        let (inputs, outputs) = buses(&instance, format.block_frames_max)?;
        let (parameters, programs) = instance.read(|effect| (effect.parameters, effect.programs));
        let parameters = u32::try_from(parameters).unwrap_or(0);
        if parameters as usize > PARAMETERS_MAX {
            return Err(too_many(parameters.into(), "parameters", PARAMETERS_MAX as u64));
        }
        let programs = u32::try_from(programs).unwrap_or(0);
        let program_names = program_names(&instance, programs);
        let values: Vec<f32> = (0..parameters).map(|index| instance.value(index)).collect();
        let plugin = Self {
            process_replacing,
            description: instance.describe(module),
            format,
            inputs,
            outputs,
            default_values: values.clone(),
            values,
            programs,
            program_names,
            instance,
        };
        plugin.activate();
        Ok(plugin)
    }

    fn activate(&self) {
        self.instance.request_with(Request::MainsChanged, 0, 1, std::ptr::null_mut(), 0.0);
        self.instance.request(Request::StartProcess);
    }

    fn deactivate(&self) {
        self.instance.request(Request::StopProcess);
        self.instance.request_with(Request::MainsChanged, 0, 0, std::ptr::null_mut(), 0.0);
    }

    fn parameter(&self, index: u32) -> Parameter {
        let text = |request| bounded_text(&self.instance.request_text_of(request, index.cast_signed(), 0).1);
        let properties = Properties::of(&self.instance, index);
        Parameter {
            id: index,
            name: text(Request::ParameterName),
            short_name: properties.as_ref().map(Properties::short_name).unwrap_or_default(),
            unit_label: text(Request::ParameterLabel),
            default_value: self.default_values[index as usize].into(),
            value: self.values[index as usize].into(),
            text: text(Request::ParameterDisplay),
            step_count: properties.as_ref().map_or(0, Properties::step_count),
            // Plugins that do not know the request answer 0 as well, so the answer has no use.
            is_automatable: true,
            is_bypass: false,
        }
    }

    fn program(&self) -> Option<u32> {
        self.instance.program(self.programs)
    }

    fn set_values(&self, values: &[f32]) {
        for (index, value) in (0..).zip(values).take(self.values.len()) {
            self.instance.set_value(index, value.clamp(0.0, 1.0));
        }
    }

    fn read_values(&mut self) {
        for (index, value) in (0..).zip(&mut self.values) {
            *value = self.instance.value(index);
        }
    }

    /// Reads all values after the host changed them, so that they do not count as changes by the
    /// plugin.
    fn accept_values(&mut self) {
        self.read_values();
        take_changed_parameters();
    }

    fn preset(&self, count: u32, content: Content) -> Preset {
        let (unique_id, version) = self.instance.read(|effect| (effect.unique_id, effect.version));
        let name = self.instance.request_text(Request::ProgramName).1;
        Preset { unique_id, version, count, name, content }
    }
}

impl HostedPlugin for Vst2Plugin {
    fn opened(&mut self) -> Result<Opened, FailureReason> {
        self.accept_values();
        let flags = self.instance.read(|effect| effect.flags);
        let tail = u32::try_from(self.instance.request(Request::TailSize)).unwrap_or(u32::MAX);
        let mut feature = *b"receiveVstMidiEvent\0";
        let can_do = self.instance.request_with(Request::CanDo, 0, 0, feature.as_mut_ptr().cast(), 0.0);
        Ok(Opened {
            name: bounded_text(&self.description.name),
            vendor: bounded_text(&self.description.vendor),
            version: bounded_text(&self.description.version),
            kind: self.description.kind,
            inputs: self.inputs.descriptions.clone(),
            outputs: self.outputs.descriptions.clone(),
            latency_frames: self.latency_frames(),
            tail_frames: match tail {
                0 => Tail::Unknown,
                1 => Tail::None,
                tail => bounded_tail(tail, self.format.sample_rate_hz),
            },
            parameters: (0..)
                .map_while(|index| self.values.get(index as usize).map(|_| index))
                .map(|index| self.parameter(index))
                .collect(),
            programs: self.program_names.clone(),
            program: self.program(),
            has_editor: flags & HAS_EDITOR != 0,
            accepts_notes: flags & IS_SYNTH != 0 || can_do == 1,
        })
    }

    fn main_input(&mut self) -> &mut [Vec<f32>] {
        self.inputs.main_mut()
    }

    fn main_output(&mut self) -> &mut [Vec<f32>] {
        self.outputs.main_mut()
    }

    fn process(&mut self, block: &Block) -> Result<(), FailureReason> {
        for event in block.events {
            if let EventKind::Parameter(ParameterValue { id, value }) = event.kind {
                self.instance.set_value(id, value as f32);
                self.values[id as usize] = self.instance.value(id);
            }
        }
        set_transport(&block.transport, self.format.sample_rate_hz);
        let mut midi = MidiBlock::new(block.events);
        if !midi.is_empty() {
            self.instance.request_with(Request::ProcessEvents, 0, 0, midi.as_ptr(), 0.0);
        }
        self.inputs.silence_others();
        self.outputs.silence();
        let inputs = self.inputs.pointers().concat();
        let outputs = self.outputs.pointers().concat();
        // SAFETY: the effect is active. There is a pointer for each channel that it states, and
        // each points to at least as many samples. The events stay valid during the call.
        unsafe {
            (self.process_replacing)(
                self.instance.as_ptr(),
                inputs.as_ptr(),
                outputs.as_ptr(),
                block.frames as i32,
            );
        }
        Ok(())
    }

    fn latency_frames(&mut self) -> u32 {
        let latency_frames = self.instance.read(|effect| effect.initial_delay);
        bounded_latency(latency_frames.into(), self.format.sample_rate_hz)
    }

    fn take_changes(&mut self) -> Result<Vec<ParameterValue>, FailureReason> {
        if take_io_changed() {
            let (inputs, outputs) = buses(&self.instance, self.format.block_frames_max)?;
            (self.inputs, self.outputs) = (inputs, outputs);
        }
        let before = self.values.clone();
        match take_changed_parameters() {
            ChangedParameters::All => self.read_values(),
            ChangedParameters::Some(indices) => {
                for index in indices.into_iter().filter_map(|index| u32::try_from(index).ok()) {
                    if let Some(value) = self.values.get_mut(index as usize) {
                        *value = self.instance.value(index);
                    }
                }
            }
        }
        let changed = (0..).zip(&self.values).zip(&before).filter(|((_, value), before)| value != before);
        Ok(changed.map(|((id, value), _)| ParameterValue { id, value: (*value).into() }).collect())
    }

    fn parameter_values(&mut self) -> Vec<ParameterValue> {
        self.accept_values();
        (0..).zip(&self.values).map(|(id, value)| ParameterValue { id, value: (*value).into() }).collect()
    }

    /// VST2 formats only current values, so the parameter has the other value for a moment.
    fn parameter_text(&mut self, ParameterValue { id, value }: ParameterValue) -> String {
        let current = self.instance.value(id);
        let is_current = current == value as f32;
        if !is_current {
            self.instance.set_value(id, value as f32);
        }
        let text = self.instance.request_text_of(Request::ParameterDisplay, id.cast_signed(), 0).1;
        if !is_current {
            self.instance.set_value(id, current);
        }
        bounded_text(&text)
    }

    fn state(&mut self) -> Result<Vec<u8>, FailureReason> {
        let ScannedPlugin { plugin_id, name, .. } = &self.description;
        let mut state = StoredState::new(PluginFormat::Vst2, plugin_id, name);
        if let Some(program) = self.program() {
            state.push(PartKind::Program, program.to_le_bytes().to_vec());
        }
        if self.instance.has_chunks() {
            state.push(PartKind::BankChunk, self.instance.chunk(ChunkKind::Bank)?);
        } else {
            self.read_values();
            state.push(PartKind::Values, self.values.iter().flat_map(|value| value.to_le_bytes()).collect());
        }
        state.to_bytes()
    }

    fn set_state(&mut self, bytes: &[u8]) -> Result<(), FailureReason> {
        let ScannedPlugin { plugin_id, name, .. } = &self.description;
        let state = StoredState::of_plugin(bytes, PluginFormat::Vst2, plugin_id, name)?;
        let program = state.part(PartKind::Program).and_then(|bytes| bytes.try_into().ok());
        if let Some(program) = program.map(u32::from_le_bytes).filter(|program| *program < self.programs) {
            self.instance.select_program(program);
        }
        if let Some(chunk) = state.part(PartKind::BankChunk) {
            self.instance.set_chunk(ChunkKind::Bank, chunk);
        }
        if let Some(values) = state.part(PartKind::Values) {
            let values: Vec<f32> =
                values.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
            self.set_values(&values);
        }
        self.accept_values();
        Ok(())
    }

    fn load_preset(&mut self, bytes: &[u8]) -> Result<(), FailureReason> {
        let preset = Preset::from_bytes(bytes)?;
        let found = preset.unique_id.cast_unsigned();
        if format!("{found:08X}") != self.description.plugin_id {
            return Err(format!(
                "the preset belongs to the plugin {found:08X}, not to {:?} ({})",
                self.description.name, self.description.plugin_id
            ));
        }
        let is_chunk = matches!(preset.content, Content::ProgramChunk(_) | Content::BankChunk(_));
        if is_chunk && !self.instance.has_chunks() {
            return Err("the preset has a chunk, but the plugin stores its state without chunks".to_owned());
        }
        match preset.content {
            Content::Values(values) => self.set_values(&values),
            Content::ProgramChunk(chunk) => self.instance.set_chunk(ChunkKind::Program, &chunk),
            Content::BankChunk(chunk) => self.instance.set_chunk(ChunkKind::Bank, &chunk),
            Content::BankValues { program, programs } => {
                let selected = program.min(self.programs.saturating_sub(1));
                for (index, values) in (0..self.programs).zip(&programs) {
                    self.instance.select_program(index);
                    self.set_values(values);
                }
                self.instance.select_program(selected);
            }
        }
        self.accept_values();
        Ok(())
    }

    fn save_preset(&mut self, format: PresetFormat) -> Result<Vec<u8>, FailureReason> {
        self.accept_values();
        let has_chunks = self.instance.has_chunks();
        let parameters = self.values.len() as u32;
        let preset = match format {
            PresetFormat::Vstpreset => {
                return Err("VST2 plugins have no .vstpreset files; use fxp or fxb".to_owned());
            }
            PresetFormat::Fxp if has_chunks => {
                self.preset(parameters, Content::ProgramChunk(self.instance.chunk(ChunkKind::Program)?))
            }
            PresetFormat::Fxp => self.preset(parameters, Content::Values(self.values.clone())),
            PresetFormat::Fxb if has_chunks => {
                self.preset(self.programs, Content::BankChunk(self.instance.chunk(ChunkKind::Bank)?))
            }
            PresetFormat::Fxb => {
                // Selecting a program may discard changes to the current one, so its values are
                // those from before.
                let selected = self.program().unwrap_or(0);
                let current = self.values.clone();
                let mut programs = Vec::new();
                for index in 0..self.programs.clamp(1, PROGRAMS_MAX as u32) {
                    if index != selected {
                        self.instance.select_program(index);
                        self.read_values();
                        programs.push(self.values.clone());
                    } else {
                        programs.push(current.clone());
                    }
                }
                if programs.len() > 1 {
                    self.instance.select_program(selected);
                    self.set_values(&current);
                }
                self.accept_values();
                self.preset(programs.len() as u32, Content::BankValues { program: selected, programs })
            }
        };
        Ok(preset.to_bytes())
    }

    fn set_program(&mut self, index: u32) -> Result<(), FailureReason> {
        if index >= self.programs {
            return Err(format!("the plugin has {} programs, but no program {index}", self.programs));
        }
        self.instance.select_program(index);
        self.accept_values();
        Ok(())
    }

    fn reset(&mut self) -> Result<(), FailureReason> {
        // Some instruments keep their notes when they are deactivated.
        if self.instance.read(|effect| effect.flags & IS_SYNTH != 0) {
            let frames = self.format.block_frames_max as usize;
            let transport = Transport { is_playing: false, ..Transport::default() };
            self.inputs.silence();
            self.process(&Block { frames, transport, events: &end_of_notes() })?;
        }
        self.deactivate();
        self.activate();
        Ok(())
    }

    fn close(self: Box<Self>) {
        self.deactivate();
        self.instance.request(Request::Close);
    }
}

impl Instance {
    /// Returns the selected program of a plugin with this number of programs.
    fn program(&self, programs: u32) -> Option<u32> {
        let program = u32::try_from(self.request(Request::Program)).ok()?;
        Some(program).filter(|program| *program < programs)
    }

    fn select_program(&self, index: u32) {
        self.request(Request::BeginSetProgram);
        self.request_with(Request::SetProgram, 0, index as isize, std::ptr::null_mut(), 0.0);
        self.request(Request::EndSetProgram);
    }
}

/// Returns the names of the programs of a new plugin. A plugin that has no names by index is asked
/// for the name of each program while the program is selected.
fn program_names(instance: &Instance, programs: u32) -> Vec<String> {
    let programs = programs.min(PROGRAMS_MAX as u32);
    // The value -1 is the category in older versions of VST2: all of them.
    let name = |index: u32| instance.request_text_of(Request::ProgramNameIndexed, index.cast_signed(), -1).1;
    let names: Vec<String> = (0..programs).map(|index| bounded_text(&name(index))).collect();
    let Some(selected) = instance.program(programs) else { return names };
    if names.iter().any(|name| !name.is_empty()) {
        return names;
    }
    let selected_name = |index| {
        // Selecting a program may change a plugin, so it is avoided where it has no use.
        if programs > 1 {
            instance.select_program(index);
        }
        bounded_text(&instance.request_text(Request::ProgramName).1)
    };
    let names = (0..programs).map(selected_name).collect();
    if programs > 1 {
        instance.select_program(selected);
    }
    names
}

/// Returns the inputs and outputs with the channels that an effect states.
fn buses(instance: &Instance, block_frames_max: u32) -> Result<(Buses, Buses), FailureReason> {
    let (inputs, outputs, flags) = instance.read(|effect| (effect.inputs, effect.outputs, effect.flags));
    // The input of an effect has no more channels than its output: the second input of a mono
    // effect is a side-chain. The input of an instrument is not a main input.
    let main_inputs = match flags & IS_SYNTH != 0 {
        true => 0,
        false => inputs.min(outputs.max(1)).min(MAIN_CHANNELS_MAX),
    };
    Ok((
        Buses::new(split_buses(inputs, main_inputs), "input", block_frames_max)?,
        Buses::new(split_buses(outputs, outputs.min(MAIN_CHANNELS_MAX)), "output", block_frames_max)?,
    ))
}

/// Returns the MIDI controllers that end all sounds and all notes, on all channels.
fn end_of_notes() -> Vec<Event> {
    const ALL_SOUND_OFF: u8 = 120;
    const ALL_NOTES_OFF: u8 = 123;
    let controllers =
        (0..16).flat_map(|channel| [ALL_SOUND_OFF, ALL_NOTES_OFF].map(|controller| (channel, controller)));
    let kind = |(channel, controller)| EventKind::Controller { channel, controller, value: 0 };
    controllers.map(|controller| Event { frame: 0, kind: kind(controller) }).collect()
}

/// Divides channels into a main bus and one with all others.
fn split_buses(channels: i32, main_channels: i32) -> Vec<Bus> {
    let bus = |channels: i32, is_main| Bus {
        name: String::new(),
        channels: channels.clamp(0, u16::MAX.into()) as u16,
        is_main,
    };
    let buses = [bus(main_channels, true), bus(channels.saturating_sub(main_channels), false)];
    buses.into_iter().filter(|bus| bus.channels > 0).collect()
}

/// The structure `VstParameterProperties` of VST 2.4.
#[repr(C)]
struct Properties {
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
    fn of(instance: &Instance, index: u32) -> Option<Self> {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut properties: Self = unsafe { std::mem::zeroed() };
        let data = (&raw mut properties).cast();
        let answer = instance.request_with(Request::ParameterProperties, index.cast_signed(), 0, data, 0.0);
        (answer == 1).then_some(properties)
    }

    fn short_name(&self) -> String {
        let length = self.short_label.iter().position(|byte| *byte == 0).unwrap_or(self.short_label.len());
        bounded_text(&String::from_utf8_lossy(&self.short_label[..length]))
    }

    fn step_count(&self) -> u32 {
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
            let buses = split_buses(channels, main);
            let found: Vec<(u16, bool)> = buses.iter().map(|bus| (bus.channels, bus.is_main)).collect();
            assert_eq!(found, expected);
        };
        check(2, 2, &[(2, true)]);
        check(6, 2, &[(2, true), (4, false)]);
        check(2, 1, &[(1, true), (1, false)]);
        check(0, 0, &[]);
        check(-3, -3, &[]);
        check(i32::MAX, 2, &[(2, true), (u16::MAX, false)]);
    }
}
