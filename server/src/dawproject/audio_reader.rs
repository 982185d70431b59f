//! Reads audio and its warps. A project plays audio at its recorded speed only.

use super::content::AudioClip;
use super::element_tree::Node;
use super::refusal::Refusal;
use super::scope::{Fade, Scope};
use super::tempo_reader::time_unit;
use super::time_scale::{TimeUnit, tick_of_beats};
use super::timeline_reader::TimelineReader;
use super::values::{number, required_number};

/// Maximum difference in seconds between the times of warps and those of a constant speed. Smaller
/// differences are not audible.
const WARP_TOLERANCE_SECS: f64 = 0.002;

/// The maximum difference as a fraction of the length.
const WARP_TOLERANCE_RATIO: f64 = 0.001;

impl<'r> TimelineReader<'r> {
    /// Reads an audio file as the content of a clip.
    pub(super) fn audio(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        let Some(track) = scope.track else {
            self.warnings.add("Notes and clips outside of tracks were left out", &scope.name);
            return Ok(());
        };
        let Some(path) = node.child("File").and_then(|file| Some((file, file.attribute("path")?))) else {
            self.warnings.add("Audio without a file was left out, in clips", &scope.name);
            return Ok(());
        };
        let (file, path) = (path.0, path.1.into_owned());
        if file.attribute("external").is_some_and(|value| matches!(&*value, "true" | "1")) {
            self.warnings.add("Audio files outside of the archive were left out", &path);
            return Ok(());
        }
        let scope = scope.clone().in_unit(TimeUnit::Seconds);
        // If a clip begins before its audio file, the audio begins after the start of the clip.
        let offset_secs = scope.time_at(scope.start_beats).max(0.0);
        let start_beats = scope.beats_at(offset_secs).max(scope.start_beats);
        let file_secs = number(node, "duration")?.unwrap_or(0.0);
        let file_end = if file_secs > 0.0 && !scope.is_looped {
            scope.beats_at(file_secs)
        } else if scope.is_looped {
            f64::INFINITY
        } else {
            scope.end_beats
        };
        let end_beats = scope.end_beats.min(file_end);
        let length_secs = scope.secs_between(start_beats, end_beats);
        if !(length_secs > 0.0 && length_secs.is_finite()) {
            return Ok(());
        }
        self.contents.count_clip()?;
        let file = self.contents.path_index(&path)?;
        // A fade belongs to an edge of its clip. A loop or an outer clip may have cut off this
        // edge.
        let fade_secs = |fade: Option<Fade>, edge_beats: f64| {
            let fade = fade.filter(|fade| (fade.edge_beats - edge_beats).abs() < 1e-3);
            fade.map_or(0.0, |fade| fade.secs.min(length_secs))
        };
        self.contents.tracks[track].audio.push(AudioClip {
            start_tick: tick_of_beats(start_beats),
            offset_secs,
            length_secs,
            fade_in_secs: fade_secs(scope.fade_in, start_beats),
            fade_out_secs: fade_secs(scope.fade_out, end_beats),
            gain_db: scope.gain_db,
            is_looped: scope.is_looped,
            name: scope.name,
            file,
        });
        Ok(())
    }

    /// Reads content with warped time. It is played at its recorded speed, from the position at
    /// which the warps place the start of the clip.
    pub(super) fn warps(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        let Some(content) = node.children().find(|child| !matches!(child.name(), "Warp")) else {
            return Ok(());
        };
        let mut points = Vec::new();
        for warp in node.children().filter(|child| child.name() == "Warp") {
            self.step()?;
            points.push((required_number(warp, "time")?, required_number(warp, "contentTime")?));
        }
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let unit = time_unit(node, "contentTimeUnit", TimeUnit::Seconds);
        let (first, last) = match (points.first(), points.last()) {
            (Some(first), Some(last)) if points.len() > 1 => (*first, *last),
            (Some(&(time, content_time)), _) => {
                let beats = scope.beats_at(time);
                let mut shifted_scope = scope.content(unit, content_time, beats, scope.end_beats);
                shifted_scope.start_beats = scope.start_beats;
                return self.timeline(content, &shifted_scope);
            }
            _ => return self.timeline(content, &scope.clone().in_unit(unit)),
        };
        let start = scope.time_at(scope.start_beats).max(first.0);
        let start_beats = scope.beats_at(start).max(scope.start_beats);
        let end_beats = scope.beats_at(last.0).min(scope.end_beats);
        if end_beats <= start_beats {
            return Ok(());
        }
        let end = scope.time_at(end_beats);
        let (content_start, content_end) = (content_time(&points, start), content_time(&points, end));
        let length = content_end - content_start;
        let inner_scope = scope.content(unit, content_start, start_beats, end_beats);
        let length_in_song = inner_scope.time_at(end_beats) - content_start;
        let is_stretched =
            points.iter().filter(|(time, _)| (start..=end).contains(time)).chain([&(end, content_end)]).any(
                |&(time, content_time)| {
                    let unwarped_time = inner_scope.time_at(scope.beats_at(time));
                    (content_time - unwarped_time).abs()
                        > WARP_TOLERANCE_SECS + WARP_TOLERANCE_RATIO * (unwarped_time - content_start).abs()
                },
            );
        if !is_stretched {
            return self.timeline(content, &inner_scope);
        }
        self.warnings.add("Stretched clips were imported at their recorded speed", &scope.name);
        let played_length = length.min(length_in_song);
        if played_length <= 0.0 {
            return Ok(());
        }
        let end_beats = inner_scope.beats_at(content_start + played_length);
        self.timeline(content, &scope.content(unit, content_start, start_beats, end_beats))
    }
}

/// Returns the time in warped content. `points` has at least two points in ascending order of time.
fn content_time(points: &[(f64, f64)], time: f64) -> f64 {
    let next = points.partition_point(|point| point.0 <= time).clamp(1, points.len() - 1);
    let ((time_1, content_1), (time_2, content_2)) = (points[next - 1], points[next]);
    if time_2 <= time_1 {
        return content_1;
    }
    content_1 + (time - time_1) * (content_2 - content_1) / (time_2 - time_1)
}
