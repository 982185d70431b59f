//! Automation of plugin instruments. The engine does not play it: the service sends it to the
//! plugin.

use dsp_core::session::AutomationPoint;

use super::automation::{NORMALIZED_RANGE, compiled_point};
use super::{Clock, SessionError, tempo_map};
use crate::project::{Project, Track};

/// Prefix of the targets that are parameters of the track's plugin instrument.
const TARGET_PREFIX: &str = "instrument/";

/// The automation of a parameter of a plugin instrument.
#[derive(Debug, Clone, PartialEq)]
pub struct InstrumentAutomation {
    /// Id of the parameter.
    pub parameter_id: u32,
    /// Points by ascending frame, with normalized values.
    pub points: Vec<AutomationPoint>,
}

/// Returns the parameter that an automation target of a track with a plugin instrument names.
pub(super) fn parameter_of(target: &str) -> Option<u32> {
    let id = target.strip_prefix(TARGET_PREFIX)?;
    id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.parse().ok())?
}

/// Returns the automation of a track's plugin instrument, in the order of the track's lanes. If
/// several lanes have the same target, only the first counts.
///
/// # Errors
/// The tempo map cannot be used.
pub fn instrument_automation(
    project: &Project,
    track: &Track,
    sample_rate_hz: u32,
) -> Result<Vec<InstrumentAutomation>, SessionError> {
    if track.plugin_engine().is_none() {
        return Ok(Vec::new());
    }
    let clock = Clock { tempo: tempo_map(project)?, sample_rate_hz };
    let mut automation: Vec<InstrumentAutomation> = Vec::new();
    for lane in &track.automation {
        let Some(parameter_id) = parameter_of(&lane.target) else { continue };
        if automation.iter().any(|earlier_entry| earlier_entry.parameter_id == parameter_id) {
            continue;
        }
        let compiled_points = lane.points.iter().map(|point| compiled_point(point, NORMALIZED_RANGE, &clock));
        let mut points: Vec<AutomationPoint> = compiled_points.collect();
        points.sort_by_key(|point| point.frame);
        automation.push(InstrumentAutomation { parameter_id, points });
    }
    Ok(automation)
}

#[cfg(test)]
mod tests {
    use dsp_core::session::Curve;
    use serde_json::json;

    use super::*;
    use crate::session::{ProjectIssueReason, build, compile};

    fn project(engine: &serde_json::Value) -> Project {
        let document = json!({
            "schema_version": 1, "project_id": "p", "tempo_map": [{"tick": 0, "bpm": 120}],
            "tracks": [{
                "id": "bass", "kind": "instrument", "synth_engine": engine,
                "automation": [
                    {"target": "instrument/7", "points": [
                        {"tick": 1920, "value": 2, "curve": "step"},
                        {"tick": 960, "value": 0.25, "curve": 0.5}
                    ]},
                    {"target": "instrument/7", "points": [{"tick": 0, "value": 1}]},
                    {"target": "instrument/x", "points": []},
                    {"target": "pan", "points": [{"tick": 0, "value": 1}]}
                ]
            }]
        });
        serde_json::from_value(document).expect("a project")
    }

    #[test]
    fn lanes_of_a_plugin_instrument_are_compiled_for_the_plugin_only() {
        let project = project(&json!({"type": "vst2", "plugin_id": "444E656B"}));
        let automation = instrument_automation(&project, &project.tracks[0], 48_000).expect("compiles");
        let point = |frame, value, curve| AutomationPoint { frame, value, curve };
        let points = vec![point(24_000, 0.25, Curve::Arc(0.5)), point(48_000, 1.0, Curve::Step)];
        assert_eq!(automation, [InstrumentAutomation { parameter_id: 7, points }]);
        let mut resolver = crate::session::media::Banks(|_: Option<&str>| None);
        let compiled_points = compile(&project, 48_000, &mut resolver).expect("compiles");
        assert_eq!(compiled_points.session.tracks[0].automation.len(), 1, "the pan");
        let issues: Vec<&str> = compiled_points.left_out.iter().map(|issue| issue.pointer.as_str()).collect();
        assert_eq!(issues, ["/tracks/0/automation/0/points/0/value", "/tracks/0/automation/2"]);
    }

    #[test]
    fn a_track_without_a_plugin_has_no_such_targets() {
        let project = project(&json!({"type": "soundfont", "bank": 0, "program": 0}));
        assert_eq!(instrument_automation(&project, &project.tracks[0], 48_000), Ok(Vec::new()));
        assert!(build(&project, 48_000, |_| None).is_ok());
        let mut resolver = crate::session::media::Banks(|_: Option<&str>| None);
        let compiled_points = compile(&project, 48_000, &mut resolver).expect("compiles");
        let unknown_issues = compiled_points.left_out.iter().filter(|issue| {
            matches!(&issue.reason, ProjectIssueReason::UnknownTarget { target } if target.starts_with("instrument/"))
        });
        assert_eq!(unknown_issues.count(), 3);
    }
}
