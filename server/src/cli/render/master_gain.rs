//! Implements `songfoundry render --gain-db`, which changes the level of a project's master.

use anyhow::bail;
use schemas::Project;

/// Range of the master's level in decibels, as in the project's schema. The lowest level is
/// silence.
const LEVELS_DB: core::ops::RangeInclusive<f64> = -144.0..=24.0;
/// The automation target of a master's volume.
const VOLUME_FIELD: &str = "volume_db";

/// Adds a gain in decibels to the master's volume and to its automation. Silence stays silent.
///
/// # Errors
/// If a level would exceed the highest level of the schema.
pub(super) fn add(project: &mut Project, gain_db: f64) -> anyhow::Result<()> {
    let (silence_db, max_db) = (*LEVELS_DB.start(), *LEVELS_DB.end());
    let master = &mut project.master;
    let lanes = master.automation.iter_mut().filter(|lane| lane.target == VOLUME_FIELD);
    let points = lanes.flat_map(|lane| &mut lane.points).map(|point| &mut point.value);
    for level_db in points.chain([&mut master.volume_db]).filter(|level_db| **level_db > silence_db) {
        let changed_db = *level_db + gain_db;
        if changed_db.is_nan() || changed_db > max_db {
            bail!(
                "--gain-db {gain_db} raises the master from {level_db} to {changed_db} dB; the maximum is {max_db} dB"
            );
        }
        *level_db = changed_db.max(silence_db);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_gain_changes_the_volume_and_its_automation_but_not_silence() {
        let document = json!({
            "schema_version": 1, "project_id": "p", "tracks": [],
            "master": { "volume_db": 2, "automation": [
                { "target": "volume_db", "points": [{ "tick": 0, "value": -144 }, { "tick": 9, "value": -3 }] },
                { "target": "e/mix", "points": [{ "tick": 0, "value": 0.5 }] },
            ] },
        });
        let project: Project = serde_json::from_value(document).expect("a project");
        let changed = |gain_db: f64| {
            let mut project = project.clone();
            add(&mut project, gain_db).map(|()| project.master).map_err(|error| error.to_string())
        };
        let softer = changed(-6.0).expect("softer");
        assert_eq!(softer.volume_db, -4.0);
        let values = |lane: usize| softer.automation[lane].points.iter().map(|point| point.value);
        assert_eq!(values(0).collect::<Vec<_>>(), [-144.0, -9.0]);
        assert_eq!(values(1).collect::<Vec<_>>(), [0.5]);
        assert_eq!(changed(-1e6).expect("silence").volume_db, -144.0);
        let refusal = changed(22.5).expect_err("too loud");
        assert_eq!(refusal, "--gain-db 22.5 raises the master from 2 to 24.5 dB; the maximum is 24 dB");
        assert!(changed(f64::NAN).is_err());
    }
}
