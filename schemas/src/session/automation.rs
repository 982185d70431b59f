//! Compiles automation.

use dsp_core::effects::RECORDED_OUTPUT;
use dsp_core::gain;
use dsp_core::session::{self, AutomationTarget, Curve, EffectSettings};

use super::instrument_automation::parameter_of;
use super::media::ProjectIssueReason;
use super::{Builder, Clock};
use crate::project::{AutomationCurve, AutomationLane, AutomationPoint, Send};

/// Range of levels in a project, in decibels, as in `Decibels` of `project.schema.json`.
const LEVEL_RANGE_DB: [f64; 2] = [gain::FADER_FLOOR_DB, 24.0];

/// Range of the normalized values of a plugin's parameters.
pub(super) const NORMALIZED_RANGE: [f64; 2] = [0.0, 1.0];

/// Prefix of the targets that are sends of the track.
const SEND_PREFIX: &str = "send/";

/// The targets that lanes of a track or of the master can automate besides volume and pan.
#[derive(Clone, Copy)]
pub(super) struct Targets<'t> {
    pub(super) sends: &'t [Send],
    pub(super) effects: &'t [EffectSettings],
    /// Whether the track has a plugin instrument.
    pub(super) has_plugin: bool,
    /// Whether the track is frozen. Its recording contains the automation of its instrument and its
    /// effects.
    pub(super) is_frozen: bool,
}

impl Builder<'_> {
    /// Compiles the lanes with known targets and reports the other lanes. Lanes whose automation is
    /// in the recording of a plugin or frozen track are not reported. `pointer` is the JSON pointer
    /// to `lanes`.
    pub(super) fn compile_automation(
        &mut self,
        lanes: &[AutomationLane],
        Targets { sends, effects, has_plugin, is_frozen }: Targets<'_>,
        pointer: &str,
    ) -> Vec<session::AutomationLane> {
        let mut compiled_lanes = Vec::with_capacity(lanes.len());
        for (index, lane) in lanes.iter().enumerate() {
            if automates_plugin(&lane.target, effects) {
                continue;
            }
            let pointer = format!("{pointer}/{index}");
            if has_plugin && parameter_of(&lane.target).is_some() {
                self.report_out_of_range(lane, NORMALIZED_RANGE, &pointer);
                continue;
            }
            match target(&lane.target, sends, effects) {
                Some(target) => {
                    let range = range(target, effects);
                    self.report_out_of_range(lane, range, &pointer);
                    let points =
                        lane.points.iter().map(|point| compiled_point(point, range, &self.clock)).collect();
                    compiled_lanes.push(session::AutomationLane { target, points });
                }
                None if is_frozen && !lane.target.starts_with(SEND_PREFIX) => {}
                None => {
                    let reason = ProjectIssueReason::UnknownTarget { target: lane.target.clone() };
                    self.report_issue(pointer, reason);
                }
            }
        }
        compiled_lanes
    }

    /// Reports only the first point of a lane that is out of range, because a lane may have
    /// thousands of such points.
    fn report_out_of_range(&mut self, lane: &AutomationLane, range: [f64; 2], pointer: &str) {
        let reason = |point: &AutomationPoint| ProjectIssueReason::of_range(point.value, range);
        let first = lane.points.iter().enumerate().find_map(|(index, point)| Some((index, reason(point)?)));
        if let Some((index, reason)) = first {
            self.report_issue(format!("{pointer}/points/{index}/value"), reason);
        }
    }
}

/// Returns a point with its value clamped to the range.
pub(super) fn compiled_point(
    point: &AutomationPoint,
    [min, max]: [f64; 2],
    clock: &Clock,
) -> session::AutomationPoint {
    session::AutomationPoint {
        frame: clock.frame_at(point.tick.into()),
        value: point.value.clamp(min, max),
        curve: point.curve.into(),
    }
}

impl From<AutomationCurve> for Curve {
    fn from(curve: AutomationCurve) -> Self {
        match curve {
            AutomationCurve::Linear => Self::Linear,
            AutomationCurve::Step => Self::Step,
            AutomationCurve::Curvature(curvature) => Self::Arc(curvature),
        }
    }
}

/// Returns the range of an automation target, in the target's unit.
fn range(target: AutomationTarget, effects: &[EffectSettings]) -> [f64; 2] {
    match target {
        AutomationTarget::Volume | AutomationTarget::Send(_) => LEVEL_RANGE_DB,
        AutomationTarget::Pan => [-1.0, 1.0],
        AutomationTarget::Effect { effect, parameter } => {
            let kind = dsp_core::effects::effect_kind(&effects[effect as usize].kind);
            let parameter = kind.map(|kind| &kind.parameters[parameter as usize]);
            parameter.map_or([f64::MIN, f64::MAX], |parameter| [parameter.min, parameter.max])
        }
    }
}

fn target(target: &str, sends: &[Send], effects: &[EffectSettings]) -> Option<AutomationTarget> {
    match target {
        "volume_db" => return Some(AutomationTarget::Volume),
        "pan" => return Some(AutomationTarget::Pan),
        _ => {}
    }
    let send = target.strip_prefix(SEND_PREFIX).and_then(|bus| sends.iter().position(|send| send.to == bus));
    if let Some(index) = send {
        return Some(AutomationTarget::Send(index as u32));
    }
    let (index, parameter_id) = effect_target(target, effects)?;
    let kind = dsp_core::effects::effect_kind(&effects[index].kind)?;
    let parameter = kind.parameter_index(parameter_id)? as u32;
    Some(AutomationTarget::Effect { effect: index as u32, parameter })
}

/// Returns the index of the effect that a target names, and the id of the parameter.
fn effect_target<'t>(target: &'t str, effects: &[EffectSettings]) -> Option<(usize, &'t str)> {
    // Effect ids may contain slashes; parameter ids do not.
    let (effect_id, parameter_id) = target.rsplit_once('/')?;
    Some((effects.iter().position(|effect| effect.id == effect_id)?, parameter_id))
}

/// Whether a target is a parameter of a plugin effect.
fn automates_plugin(target: &str, effects: &[EffectSettings]) -> bool {
    effect_target(target, effects).is_some_and(|(index, _)| effects[index].kind == RECORDED_OUTPUT.id)
}
