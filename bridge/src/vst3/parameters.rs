//! The parameters, programs and note expressions of a plugin, as its controller states them.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::collections::HashSet;

use songfoundry_bridge_protocol::host::{PARAMETERS_MAX, PROGRAMS_MAX, Parameter};
use vst3::ComPtr;
use vst3::Steinberg::Vst::ParameterInfo_::ParameterFlags_::{
    kCanAutomate, kIsBypass, kIsHidden, kIsProgramChange, kIsReadOnly,
};
use vst3::Steinberg::Vst::{
    IEditController, IEditControllerTrait as _, INoteExpressionController,
    INoteExpressionControllerTrait as _, IUnitInfo, IUnitInfoTrait as _, NoteExpressionTypeID,
    NoteExpressionTypeInfo, ParamID, ParameterInfo, ProgramListInfo, UnitInfo,
};
use vst3::Steinberg::kResultOk;

use super::text::wide_text;
use crate::host::bounds::{bounded_text, bounded_value};
use crate::host::buses::too_many;
use crate::module::FailureReason;

/// Maximum numbers of units, of program lists and of note expressions that are read.
const ITEMS_MAX: i32 = 1_000;

/// The parameter that selects a program, with the names of the programs.
pub(super) struct Programs {
    /// Id of the parameter.
    pub(super) parameter: ParamID,
    /// Number of steps of the parameter.
    step_count: u32,
    /// Names of the programs.
    pub(super) names: Vec<String>,
}

impl Programs {
    /// Returns the parameter's value for a program.
    pub(super) fn value_of(&self, index: u32) -> f64 {
        match self.step_count {
            0 => 0.0,
            steps => (f64::from(index) / f64::from(steps)).min(1.0),
        }
    }

    /// Returns the program for a value of the parameter. Source: VST 3 Developer Portal,
    /// "Parameters and Automation".
    pub(super) fn index_of(&self, value: f64) -> u32 {
        ((value * (f64::from(self.step_count) + 1.0)) as u32).min(self.step_count)
    }
}

/// Reads all parameters. Hidden and read-only ones are left out of the first list.
pub(super) fn read_parameters(
    controller: &ComPtr<IEditController>,
) -> Result<(Vec<Parameter>, Option<Programs>), FailureReason> {
    // SAFETY: the controller is initialized.
    let count = unsafe { controller.getParameterCount() }.max(0);
    if count as usize > PARAMETERS_MAX {
        return Err(too_many(count as u64, "parameters", PARAMETERS_MAX as u64));
    }
    let mut parameters = Vec::new();
    let mut programs = None;
    for index in 0..count {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut info: ParameterInfo = unsafe { std::mem::zeroed() };
        // SAFETY: the controller is initialized, and `info` lives as long as the call.
        if unsafe { controller.getParameterInfo(index, &mut info) } != kResultOk {
            continue;
        }
        let flags = info.flags;
        if flags & kIsProgramChange != 0 && programs.is_none() {
            programs = read_programs(controller, &info);
        }
        if flags & (kIsHidden | kIsReadOnly) == 0 {
            parameters.push(parameter(controller, &info));
        }
    }
    Ok((parameters, programs))
}

fn parameter(controller: &ComPtr<IEditController>, info: &ParameterInfo) -> Parameter {
    let value = normalized_value(controller, info.id);
    let bounded = |text| bounded_text(&wide_text(text));
    Parameter {
        id: info.id,
        name: bounded(&info.title),
        short_name: bounded(&info.shortTitle),
        unit_label: bounded(&info.units),
        default_value: bounded_value(info.defaultNormalizedValue),
        value,
        text: value_text(controller, info.id, value),
        step_count: u32::try_from(info.stepCount).unwrap_or(0),
        is_automatable: info.flags & kCanAutomate != 0,
        is_bypass: info.flags & kIsBypass != 0,
    }
}

/// Returns the value of a parameter.
pub(super) fn normalized_value(controller: &ComPtr<IEditController>, id: ParamID) -> f64 {
    // SAFETY: the controller is initialized.
    bounded_value(unsafe { controller.getParamNormalized(id) })
}

/// Returns the text of a value; empty if the plugin has none.
pub(super) fn value_text(controller: &ComPtr<IEditController>, id: ParamID, value: f64) -> String {
    let mut text = [0; 128];
    // SAFETY: the controller is initialized, and `text` lives as long as the call.
    match unsafe { controller.getParamStringByValue(id, value, &mut text) } {
        answer if answer == kResultOk => bounded_text(&wide_text(&text)),
        _ => String::new(),
    }
}

/// Reads the programs of the unit to which a program parameter belongs.
fn read_programs(controller: &ComPtr<IEditController>, info: &ParameterInfo) -> Option<Programs> {
    let units = controller.cast::<IUnitInfo>()?;
    // SAFETY: the interface was queried.
    let (unit_count, list_count) = unsafe { (units.getUnitCount(), units.getProgramListCount()) };
    let unit = (0..unit_count.min(ITEMS_MAX)).find_map(|index| {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut unit: UnitInfo = unsafe { std::mem::zeroed() };
        // SAFETY: the interface was queried, and `unit` lives as long as the call.
        let answer = unsafe { units.getUnitInfo(index, &mut unit) };
        (answer == kResultOk && unit.id == info.unitId).then_some(unit)
    })?;
    let list = (0..list_count.min(ITEMS_MAX)).find_map(|index| {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut list: ProgramListInfo = unsafe { std::mem::zeroed() };
        // SAFETY: the interface was queried, and `list` lives as long as the call.
        let answer = unsafe { units.getProgramListInfo(index, &mut list) };
        (answer == kResultOk && list.id == unit.programListId).then_some(list)
    })?;
    let name = |index| {
        let mut name = [0; 128];
        // SAFETY: the interface was queried, and `name` lives as long as the call.
        unsafe { units.getProgramName(list.id, index, &mut name) };
        bounded_text(&wide_text(&name))
    };
    let names = (0..list.programCount.min(PROGRAMS_MAX as i32)).map(name).collect();
    Some(Programs { parameter: info.id, step_count: u32::try_from(info.stepCount).unwrap_or(0), names })
}

/// Returns the note expressions that a plugin offers for its first event input.
pub(super) fn read_note_expressions(controller: &ComPtr<IEditController>) -> HashSet<NoteExpressionTypeID> {
    let Some(expressions) = controller.cast::<INoteExpressionController>() else { return HashSet::new() };
    // SAFETY: the interface was queried.
    let count = unsafe { expressions.getNoteExpressionCount(0, 0) };
    let type_id = |index| {
        // SAFETY: numbers, arrays of numbers and no pointers, for which all zeros are valid.
        let mut info: NoteExpressionTypeInfo = unsafe { std::mem::zeroed() };
        // SAFETY: the interface was queried, and `info` lives as long as the call.
        let answer = unsafe { expressions.getNoteExpressionInfo(0, 0, index, &mut info) };
        (answer == kResultOk).then_some(info.typeId)
    };
    (0..count.min(ITEMS_MAX)).filter_map(type_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_steps_of_their_parameter() {
        let programs = Programs { parameter: 1, step_count: 3, names: vec![String::new(); 4] };
        for index in 0..4 {
            assert_eq!(programs.index_of(programs.value_of(index)), index);
        }
        let single_program = Programs { parameter: 1, step_count: 0, names: vec![String::new()] };
        assert_eq!((single_program.value_of(0), single_program.index_of(1.0)), (0.0, 0));
    }
}
