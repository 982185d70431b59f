//! Hosts a VST2 plugin.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::path::Path;

use songfoundry_bridge_protocol::host::{
    EventKind, Opened, PARAMETERS_MAX, PROGRAMS_MAX, Parameter, ParameterValue, PresetFormat, Tail, Transport,
};
use songfoundry_bridge_protocol::{PluginFormat, ScannedPlugin};

use super::callback::{
    ChangedParameters, set_current_id, set_format, set_transport, take_changed_parameters, take_io_changed,
};
use super::description::{Properties, buses, program_names};
use super::effect::{CAN_REPLACE, HAS_EDITOR, IS_SYNTH, Instance, ProcessReplacing, Request, load_main};
use super::midi::{MidiBlock, end_of_notes};
use super::preset::{Content, Preset};
use super::state::ChunkKind;
use crate::host::bounds::{bounded_latency, bounded_tail, bounded_text};
use crate::host::buses::{Buses, too_many};
use crate::host::plugin::{Block, Format, HostedPlugin};
use crate::host::state::{PartKind, StoredState};
use crate::module::FailureReason;

/// A VST2 plugin that is open and active.
pub(crate) struct Vst2Plugin {
    pub(super) instance: Instance,
    process_replacing: ProcessReplacing,
    description: ScannedPlugin,
    format: Format,
    inputs: Buses,
    outputs: Buses,
    /// The last known value of each parameter.
    pub(super) values: Vec<f32>,
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
        set_format(format);
        let main = load_main(module)?;
        set_current_id(unique_id.cast_signed());
        let instance = Instance::create(main)?;
        let actual_id = instance.read(|effect| effect.unique_id.cast_unsigned());
        if actual_id != unique_id {
            return Err(format!("the module contains the plugin {actual_id:08X}, but not {plugin_id}"));
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
            // Plugins that do not know the request also answer 0, so the answer is not used.
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

    fn side_chain(&mut self) -> &mut [Vec<f32>] {
        self.inputs.side_chain_mut()
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
        let pointers =
            |buses: &mut Buses| [buses.pointers().concat(), buses.spare_pointers().into()].concat();
        let (inputs, outputs) = (pointers(&mut self.inputs), pointers(&mut self.outputs));
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
        let changed_parameters = match take_changed_parameters() {
            ChangedParameters::All => (0..self.values.len() as u32).collect(),
            ChangedParameters::Some(indices) => indices,
        };
        let mut changes = Vec::new();
        for id in changed_parameters {
            if let Some(known_value) = self.values.get_mut(id as usize) {
                let value = self.instance.value(id);
                if std::mem::replace(known_value, value) != value {
                    changes.push(ParameterValue { id, value: value.into() });
                }
            }
        }
        Ok(changes)
    }

    fn parameter_values(&mut self) -> Vec<ParameterValue> {
        self.accept_values();
        (0..).zip(&self.values).map(|(id, value)| ParameterValue { id, value: (*value).into() }).collect()
    }

    /// VST2 formats only current values, so the parameter is set to the value and back.
    fn parameter_text(&mut self, ParameterValue { id, value }: ParameterValue) -> String {
        let current_value = self.instance.value(id);
        let is_current = current_value == value as f32;
        if !is_current {
            self.instance.set_value(id, value as f32);
        }
        let text = self.instance.request_text_of(Request::ParameterDisplay, id.cast_signed(), 0).1;
        if !is_current {
            self.instance.set_value(id, current_value);
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
        let actual_id = preset.unique_id.cast_unsigned();
        if format!("{actual_id:08X}") != self.description.plugin_id {
            return Err(format!(
                "the preset belongs to the plugin {actual_id:08X}, not to {:?} ({})",
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
                let selected_program = program.min(self.programs.saturating_sub(1));
                for (index, values) in (0..self.programs).zip(&programs) {
                    self.instance.select_program(index);
                    self.set_values(values);
                }
                self.instance.select_program(selected_program);
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
                // Selecting a program may discard changes to the current program, so its values are
                // copied first.
                let selected_program = self.program().unwrap_or(0);
                let current_value = self.values.clone();
                let mut programs = Vec::new();
                for index in 0..self.programs.clamp(1, PROGRAMS_MAX as u32) {
                    if index != selected_program {
                        self.instance.select_program(index);
                        self.read_values();
                        programs.push(self.values.clone());
                    } else {
                        programs.push(current_value.clone());
                    }
                }
                if programs.len() > 1 {
                    self.instance.select_program(selected_program);
                    self.set_values(&current_value);
                }
                self.accept_values();
                self.preset(
                    programs.len() as u32,
                    Content::BankValues { program: selected_program, programs },
                )
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
