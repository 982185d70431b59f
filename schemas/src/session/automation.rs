//! Automation in the engine's terms.

use dsp_core::session::{self, AutomationTarget, Curve, EffectSettings};

use super::Builder;
use super::sounds::LeftOutReason;
use crate::project::{AutomationCurve, AutomationLane, AutomationPoint, Send};

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
            match target(&lane.target, sends, effects) {
                Some(target) => {
                    let points = lane.points.iter().map(|point| self.point(point)).collect();
                    known.push(session::AutomationLane { target, points });
                }
                None => {
                    let reason = LeftOutReason::UnknownTarget { target: lane.target.clone() };
                    self.leave_out(format!("{pointer}/{place}"), reason);
                }
            }
        }
        known
    }

    fn point(&self, point: &AutomationPoint) -> session::AutomationPoint {
        session::AutomationPoint {
            frame: self.clock.frame_at(point.tick.into()),
            value: point.value,
            curve: match point.curve {
                AutomationCurve::Linear => Curve::Linear,
                AutomationCurve::Step => Curve::Step,
                AutomationCurve::Curvature(curvature) => Curve::Arc(curvature),
            },
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
    let parameter = kind.parameter_place(parameter_id)? as u32;
    Some(AutomationTarget::Effect { effect: place as u32, parameter })
}
