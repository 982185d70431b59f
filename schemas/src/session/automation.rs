//! Automation in the engine's terms.

use dsp_core::gain;
use dsp_core::session::{self, AutomationTarget, Curve, EffectSettings};

use super::Builder;
use super::sounds::LeftOutReason;
use crate::project::{AutomationCurve, AutomationLane, AutomationPoint, Send};

/// The levels that a project may have, in decibels: `Decibels` of its schema.
const LEVEL_RANGE_DB: [f64; 2] = [gain::FADER_FLOOR_DB, 24.0];

impl Builder<'_> {
    /// The lanes of which the engine knows what they move; `pointer` is theirs.
    pub(super) fn automation(
        &mut self,
        lanes: &[AutomationLane],
        sends: &[Send],
        effects: &[EffectSettings],
        pointer: &str,
    ) -> Vec<session::AutomationLane> {
        let mut known = Vec::with_capacity(lanes.len());
        for (place, lane) in lanes.iter().enumerate() {
            let pointer = format!("{pointer}/{place}");
            match target(&lane.target, sends, effects) {
                Some(target) => {
                    let range = range(target, effects);
                    self.name_out_of_range(lane, range, &pointer);
                    let points = lane.points.iter().map(|point| self.point(point, range)).collect();
                    known.push(session::AutomationLane { target, points });
                }
                None => {
                    let reason = LeftOutReason::UnknownTarget { target: lane.target.clone() };
                    self.leave_out(pointer, reason);
                }
            }
        }
        known
    }

    /// Names the first point of a lane that lies outside the range of what it moves: there may be
    /// thousands.
    fn name_out_of_range(&mut self, lane: &AutomationLane, range: [f64; 2], pointer: &str) {
        let reason = |point: &AutomationPoint| LeftOutReason::of_range(point.value, range);
        let first = lane.points.iter().enumerate().find_map(|(place, point)| Some((place, reason(point)?)));
        if let Some((place, reason)) = first {
            self.leave_out(format!("{pointer}/points/{place}/value"), reason);
        }
    }

    fn point(&self, point: &AutomationPoint, [min, max]: [f64; 2]) -> session::AutomationPoint {
        session::AutomationPoint {
            frame: self.clock.frame_at(point.tick.into()),
            value: point.value.clamp(min, max),
            curve: match point.curve {
                AutomationCurve::Linear => Curve::Linear,
                AutomationCurve::Step => Curve::Step,
                AutomationCurve::Curvature(curvature) => Curve::Arc(curvature),
            },
        }
    }
}

/// The range of what a lane moves, in its own unit.
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
    let send = target.strip_prefix("send/").and_then(|bus| sends.iter().position(|send| send.to == bus));
    if let Some(place) = send {
        return Some(AutomationTarget::Send(place as u32));
    }
    // Ids of parameters have no slash; those of effects may.
    let (effect_id, parameter_id) = target.rsplit_once('/')?;
    let place = effects.iter().position(|effect| effect.id == effect_id)?;
    let kind = dsp_core::effects::effect_kind(&effects[place].kind)?;
    let parameter = kind.parameter_index(parameter_id)? as u32;
    Some(AutomationTarget::Effect { effect: place as u32, parameter })
}
