//! The sections of a song, which `--sections` renders to separate files.

use schemas::Project;
use schemas::project::Item;
use schemas::session::{build, tempo_map};

use crate::file_stem::file_stem;
use crate::rendering::selection::TickRange;

/// A named part of a song.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) range: TickRange,
}

/// Returns the sections that divide a song, in the order of their starts: its section items, or,
/// without them, the parts from each marker to the next one or to the end of the song.
///
/// # Errors
/// The song cannot be played.
pub(super) fn sections_of(project: &Project) -> anyhow::Result<Vec<Section>> {
    let items = project.tracks.iter().flat_map(|track| &track.items);
    let mut sections: Vec<Section> = items
        .filter_map(|item| match item {
            Item::Section(section) => Some(section),
            _ => None,
        })
        .map(|section| Section {
            name: section.name.clone().unwrap_or_else(|| section.section_id.clone()),
            range: TickRange {
                start_tick: section.start_tick,
                end_tick: section.start_tick.saturating_add(section.length_ticks),
            },
        })
        .collect();
    if sections.is_empty() {
        sections = between_markers(project)?;
    }
    sections.retain(|Section { range, .. }| range.start_tick < range.end_tick);
    sections.sort_by_key(|section| section.range.start_tick);
    Ok(sections)
}

fn between_markers(project: &Project) -> anyhow::Result<Vec<Section>> {
    let end_frame = build(project, project.sample_rate_hz, |_| Some(0))?.length_frames;
    // The last frame is part of the last section.
    let end_tick = tempo_map(project)?.tick_at(end_frame, project.sample_rate_hz).saturating_add(1);
    let end_tick = u32::try_from(end_tick).unwrap_or(u32::MAX);
    let end_of = |start_tick: u32| {
        let later_ticks = project.markers.iter().map(|marker| marker.tick).filter(|tick| *tick > start_tick);
        later_ticks.min().unwrap_or(end_tick)
    };
    let section = |marker: &schemas::project::Marker| Section {
        name: marker.name.clone(),
        range: TickRange { start_tick: marker.tick, end_tick: end_of(marker.tick) },
    };
    Ok(project.markers.iter().map(section).collect())
}

impl Section {
    /// Returns the end of the file name, which follows the name of the song, such as
    /// ` - 02 Chorus`. `index` is the position in the list of sections.
    pub(super) fn name_in_file(&self, index: usize) -> String {
        format!(" - {:02} {}", index + 1, file_stem(&self.name))
    }
}
