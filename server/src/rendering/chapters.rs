//! The markers of a song as chapters of its file.

use std::ops::Range;

use schemas::Project;
use schemas::session::tempo_map;

use super::error::RenderError;
use crate::encoding::chapters::{CHAPTERS_MAX, Chapter, NAME_MAX_BYTES};

/// Returns the chapters of a file with `file_rate_hz`. `range` is the rendered range in frames of
/// `session_rate_hz`. Markers outside it and those beyond [`CHAPTERS_MAX`] are left out.
///
/// # Errors
/// The tempo map cannot be used.
pub(super) fn chapters(
    project: &Project,
    session_rate_hz: u32,
    range: &Range<u64>,
    file_rate_hz: u32,
) -> Result<Vec<Chapter>, RenderError> {
    if project.markers.is_empty() {
        return Ok(Vec::new());
    }
    let tempo = tempo_map(project)?;
    let mut markers: Vec<_> = project
        .markers
        .iter()
        .map(|marker| (tempo.frame_at(u64::from(marker.tick), session_rate_hz), &*marker.name))
        .filter(|(frame, _)| range.contains(frame))
        .collect();
    markers.sort_by_key(|(frame, _)| *frame);
    markers.truncate(CHAPTERS_MAX);
    let file_frame =
        |frame: u64| (frame - range.start) * u64::from(file_rate_hz) / u64::from(session_rate_hz.max(1));
    let chapter = |(frame, name)| Chapter { frame: file_frame(frame), name: chapter_name(name) };
    Ok(markers.into_iter().map(chapter).collect())
}

/// Returns the name of a marker without control characters, and with at most [`NAME_MAX_BYTES`].
fn chapter_name(name: &str) -> String {
    let mut name: String = name.chars().filter(|character| !character.is_control()).collect();
    name.truncate(name.floor_char_boundary(NAME_MAX_BYTES));
    name
}

#[cfg(test)]
mod tests {
    use schemas::Extra;
    use schemas::project::Marker;

    use super::*;

    fn project(markers: &[(u32, &str)]) -> Project {
        let marker =
            |&(tick, name): &(u32, &str)| Marker { tick, name: name.to_owned(), extra: Extra::default() };
        Project { markers: markers.iter().map(marker).collect(), ..Project::new("song", "Song") }
    }

    #[test]
    fn markers_in_the_range_become_chapters_in_order() {
        // At 120 beats per minute, 1,920 ticks are one second.
        let project = project(&[(3_840, "Ver\0se"), (0, "Intro"), (1_920, "B"), (9_600, "Late")]);
        let song_chapters = chapters(&project, 48_000, &(48_000..240_000), 44_100).expect("a tempo map");
        let expected = [(0, "B"), (44_100, "Verse")];
        assert_eq!(song_chapters, expected.map(|(frame, name)| Chapter { frame, name: name.to_owned() }));
    }

    #[test]
    fn names_and_numbers_are_bounded() {
        let many_markers: Vec<_> = (0..1_000).map(|tick| (tick, "")).collect();
        let song_chapters =
            chapters(&project(&many_markers), 48_000, &(0..48_000), 48_000).expect("a tempo map");
        assert_eq!(song_chapters.len(), CHAPTERS_MAX);
        assert_eq!(chapter_name(&"é".repeat(500)).len(), NAME_MAX_BYTES);
    }
}
