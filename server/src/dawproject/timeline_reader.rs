//! Reads the arrangement of a file: nested lanes and clips become items on tracks.

use std::collections::HashMap;

use schemas::Extra;
use schemas::limits::MAX_TICK;
use schemas::project::{Marker, MidiItem, Note};

use super::content::FileContents;
use super::element_tree::{DEPTH_MAX, Node, Tree};
use super::expressions::{expression_of, is_expression};
use super::level::{Unit, db_of};
use super::mixer_reader::{Mixer, is_false};
use super::refusal::Refusal;
use super::scope::{Fade, Scope};
use super::tempo_reader::time_unit;
use super::time_scale::{TimeScale, TimeUnit, beats_of_tick, tick_of_beats};
use super::values::{name_of, number, required_number, value_of};
use super::warnings::Warnings;

/// Maximum number of elements that are read. Elements in a loop count each time.
const STEPS_MAX: usize = 4_000_000;

/// Number of steps between two checks whether the caller still waits.
const STEPS_PER_CHECK: usize = 10_000;

/// Minimum length of a loop, in the unit of its clip.
const LOOP_MIN: f64 = 1e-3;

/// Velocity of notes without one: 100 of 127.
const DEFAULT_VELOCITY: f64 = 0.787_402;

/// Reads the arrangement of a file. `is_cancelled` returns whether the caller has disconnected.
///
/// # Errors
/// A value is not a number, a limit is exceeded, or the caller disconnected.
pub(super) fn read(
    tree: &Tree,
    mixer: &Mixer,
    scale: &TimeScale,
    warnings: &mut Warnings,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<FileContents, Refusal> {
    let timelines = tree.nodes().filter(|node| is_timeline(*node));
    let by_id = timelines.filter_map(|node| Some((node.attribute("id")?.into_owned(), node))).collect();
    let mut reader = TimelineReader {
        mixer,
        by_id,
        warnings,
        is_cancelled,
        contents: FileContents::new(mixer.tracks.len()),
        item: None,
        steps: 0,
        depth: 0,
    };
    if let Some(arrangement) = tree.root().child("Arrangement") {
        let song = Scope::song(scale, TimeUnit::Beats, beats_of_tick(u64::from(MAX_TICK)));
        for node in arrangement.children().filter(|node| matches!(node.name(), "Lanes" | "Markers")) {
            reader.timeline(node, &song)?;
        }
    }
    let scenes = tree.root().child("Scenes").into_iter().flat_map(Node::children);
    for scene in scenes.filter(|scene| has_clip(*scene)) {
        reader.warnings.add("Scenes of the clip launcher were left out", &name_of(scene));
    }
    reader.contents.sort();
    Ok(reader.contents)
}

/// Whether a scene has a clip. Many programs write empty scenes into every file.
fn has_clip(scene: Node<'_>) -> bool {
    let mut open_nodes = vec![scene];
    while let Some(node) = open_nodes.pop() {
        if node.name() == "Clip" {
            return true;
        }
        open_nodes.extend(node.children());
    }
    false
}

/// Reads nested timelines.
pub(super) struct TimelineReader<'r> {
    pub(super) mixer: &'r Mixer,
    by_id: HashMap<String, Node<'r>>,
    pub(super) warnings: &'r mut Warnings,
    is_cancelled: &'r dyn Fn() -> bool,
    pub(super) contents: FileContents,
    /// The item of the outermost clip that is being read, if it has notes or controls.
    pub(super) item: Option<MidiItem>,
    steps: usize,
    depth: usize,
}

impl<'r> TimelineReader<'r> {
    pub(super) fn timeline(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        if self.depth == DEPTH_MAX {
            return Err(Refusal::from_reason(format!(
                "its lanes and clips are nested more than {DEPTH_MAX} deep"
            )));
        }
        self.depth += 1;
        let outcome = self.timeline_of_kind(node, scope);
        self.depth -= 1;
        outcome
    }

    fn timeline_of_kind(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        self.step()?;
        let mut scope = scope.clone().in_unit(time_unit(node, "timeUnit", scope.unit));
        if let Some(id) = node.attribute("track") {
            scope.track = self.mixer.by_track_id.get(&*id).copied();
            if scope.track.is_none() {
                self.warnings.add("Lanes of unknown tracks were left out", &id);
                return Ok(());
            }
        }
        match node.name() {
            "Lanes" => {
                self.read_gain(node, &mut scope);
                node.children().try_for_each(|child| self.timeline(child, &scope))
            }
            "Clips" => {
                let mut clips = node.children().filter(|child| child.name() == "Clip");
                clips.try_for_each(|clip| self.clip(clip, &scope))
            }
            "Notes" => self.notes(node, &scope),
            "Audio" => self.audio(node, &scope),
            "Warps" => self.warps(node, &scope),
            "Points" => self.points(node, &scope),
            "Markers" | "markers" => self.markers(node, &scope),
            "Video" => {
                self.warnings.add("Videos were left out", &scope.name);
                Ok(())
            }
            "ClipSlot" => {
                self.warnings.add("Clips of the clip launcher were left out", "");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Counts a step of the work.
    pub(super) fn step(&mut self) -> Result<(), Refusal> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(Refusal::from_reason(format!(
                "with its loops written out it has more than {STEPS_MAX} elements"
            )));
        }
        if self.steps.is_multiple_of(STEPS_PER_CHECK) && (self.is_cancelled)() {
            return Err(Refusal::Cancelled);
        }
        Ok(())
    }

    fn clip(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        self.step()?;
        let name = name_of(node);
        if is_false(node, "enable") {
            self.warnings.add("Clips that are switched off were left out", &name);
            return Ok(());
        }
        let referenced_node = node.attribute("reference").and_then(|id| self.by_id.get(&*id).copied());
        let Some(content) = node.children().find(|child| is_timeline(*child)).or(referenced_node) else {
            self.warnings.add("Clips without content were left out", &name);
            return Ok(());
        };
        let time = required_number(node, "time")?;
        let unit = time_unit(node, "contentTimeUnit", scope.unit);
        let play_start = number(node, "playStart")?.unwrap_or(0.0);
        let start_beats = scope.beats_at(time);
        let end_beats = match (number(node, "duration")?, number(node, "playStop")?) {
            (Some(duration), _) => scope.beats_at(time + duration),
            (None, Some(play_stop)) => scope.after(start_beats, play_stop - play_start, unit),
            (None, None) => scope.end_beats,
        };
        let mut outer = scope.content(unit, play_start, start_beats, end_beats);
        if outer.is_empty() {
            return Ok(());
        }
        if !name.is_empty() {
            outer.name.clone_from(&name);
        }
        self.read_fades(node, scope, (start_beats, end_beats), &mut outer)?;
        let is_outermost = self.item.is_none();
        if is_outermost {
            self.item = Some(self.new_item(&outer));
        }
        let audio_clips = scope.track.map_or(0, |track| self.contents.tracks[track].audio.len());
        self.clip_content(node, content, &outer, start_beats, play_start)?;
        if is_outermost {
            let has_audio =
                scope.track.is_some_and(|track| self.contents.tracks[track].audio.len() > audio_clips);
            self.finish_item(scope.track, has_audio || !has_notes(content))?;
        }
        Ok(())
    }

    /// Reads the content of a clip, as often as it is repeated.
    fn clip_content(
        &mut self,
        clip: Node<'r>,
        content: Node<'r>,
        scope: &Scope<'r>,
        start_beats: f64,
        play_start: f64,
    ) -> Result<(), Refusal> {
        let (loop_start, loop_end) = (number(clip, "loopStart")?.unwrap_or(0.0), number(clip, "loopEnd")?);
        let first_end = loop_end.map(|end| scope.after(start_beats, end - play_start, scope.unit));
        let (Some(loop_end), Some(first_end)) = (loop_end, first_end) else {
            return self.timeline(content, scope);
        };
        // A difference below a millionth of a beat is a rounding error.
        if first_end >= scope.end_beats - 1e-6 || play_start >= loop_end || loop_end - loop_start < LOOP_MIN {
            return self.timeline(content, scope);
        }
        if is_loop_of_file(content, scope.unit, play_start, loop_start, loop_end)? {
            let mut looped_scope = scope.clone();
            looped_scope.is_looped = true;
            return self.timeline(content, &looped_scope);
        }
        let (mut position_beats, mut time) = (start_beats, play_start);
        while position_beats < scope.end_beats - 1e-6 {
            self.step()?;
            let next = scope.after(position_beats, loop_end - time, scope.unit);
            let part = scope.content(scope.unit, time, position_beats, next);
            if !part.is_empty() {
                self.timeline(content, &part)?;
            }
            (position_beats, time) = (next, loop_start);
        }
        Ok(())
    }

    fn read_fades(
        &mut self,
        clip: Node<'r>,
        parent: &Scope<'r>,
        (start_beats, end_beats): (f64, f64),
        scope: &mut Scope<'r>,
    ) -> Result<(), Refusal> {
        let unit = time_unit(clip, "fadeTimeUnit", time_unit(clip, "contentTimeUnit", parent.unit));
        for (attribute, edge_beats, is_start) in
            [("fadeInTime", start_beats, true), ("fadeOutTime", end_beats, false)]
        {
            let fade_length = number(clip, attribute)?.unwrap_or(0.0);
            if fade_length == 0.0 {
                continue;
            }
            if fade_length < 0.0 {
                self.warnings.add("Cross-fades became fades inside their clips", &scope.name);
            }
            let other_beats =
                scope.after(edge_beats, if is_start { fade_length.abs() } else { -fade_length.abs() }, unit);
            let secs = parent.secs_between(edge_beats, other_beats).abs();
            let fade = Some(Fade { edge_beats, secs });
            if is_start { scope.fade_in = fade } else { scope.fade_out = fade }
        }
        Ok(())
    }

    /// Reads the constant gain that a `Lanes` element may have for its audio.
    fn read_gain(&mut self, lanes: Node<'r>, scope: &mut Scope<'r>) {
        let is_gain = |node: &Node<'r>| expression_of(*node).is_some_and(|name| name == "gain");
        for points in lanes.children().filter(is_gain) {
            let unit =
                points.attribute("unit").and_then(|unit| Unit::from_name(&unit)).unwrap_or(Unit::Linear);
            let mut levels = points.children().filter_map(value_of).map(|value| db_of(value, unit));
            let Some(first) = levels.next() else { continue };
            scope.gain_db = first;
            if levels.any(|level| level != first) {
                self.warnings.add("Gain envelopes of clips became their first value", &scope.name);
            }
        }
    }

    fn new_item(&self, scope: &Scope<'r>) -> MidiItem {
        let start_tick = tick_of_beats(scope.start_beats);
        MidiItem {
            name: Some(scope.name.clone()).filter(|name| !name.is_empty()),
            start_tick,
            length_ticks: tick_of_beats(scope.end_beats) - start_tick,
            ..MidiItem::default()
        }
    }

    /// Adds the item of a clip to its track. Adds an empty item only if the clip is for notes.
    fn finish_item(&mut self, track: Option<usize>, is_for_other_content: bool) -> Result<(), Refusal> {
        let Some(mut item) = self.item.take() else { return Ok(()) };
        let is_empty = item.notes.is_empty() && item.controls.is_empty();
        let Some(track) = track.filter(|_| !(is_empty && is_for_other_content)) else {
            return Ok(());
        };
        if item.start_tick + item.length_ticks >= MAX_TICK {
            // The clip has no end in the file, so the item ends with its last event.
            let ends = item.notes.iter().map(|note| note.tick + note.length_ticks);
            let last = ends.chain(item.controls.iter().map(|control| control.tick() + 1)).max();
            item.length_ticks = last.unwrap_or(0);
        }
        self.contents.count_clip()?;
        item.id = format!("clip-{}", self.contents.tracks[track].midi.len() + 1);
        self.contents.tracks[track].midi.push(item);
        Ok(())
    }

    fn notes(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        if scope.track.is_none() {
            self.warnings.add("Notes and clips outside of tracks were left out", &scope.name);
            return Ok(());
        }
        let mut item = match self.item.take() {
            Some(item) => item,
            None => {
                let item = self.new_item(scope);
                self.item = Some(item);
                self.notes(node, scope)?;
                return self.finish_item(scope.track, true);
            }
        };
        let outcome = self.notes_of_item(node, scope, &mut item);
        self.item = Some(item);
        outcome
    }

    fn notes_of_item(
        &mut self,
        node: Node<'r>,
        scope: &Scope<'r>,
        item: &mut MidiItem,
    ) -> Result<(), Refusal> {
        let (first_tick, end_tick) = (tick_of_beats(scope.start_beats), tick_of_beats(scope.end_beats));
        for note in node.children().filter(|child| child.name() == "Note") {
            self.step()?;
            let time = required_number(note, "time")?;
            let duration = required_number(note, "duration")?.max(0.0);
            let (start_beats, pitch) = (scope.beats_at(time), required_number(note, "key")?);
            let start_tick = tick_of_beats(start_beats);
            if start_beats < -1e-6 || start_tick < first_tick || start_tick >= end_tick {
                continue;
            }
            if !(0.0..=127.0).contains(&pitch) {
                self.warnings.add("Notes outside of MIDI keys 0 to 127 were left out", &scope.name);
                continue;
            }
            if note.children().next().is_some() {
                self.warnings.add("Expressions of single notes were left out", &scope.name);
            }
            let note_end = tick_of_beats(scope.beats_at(time + duration)).min(end_tick);
            let min_ticks = u32::from(duration > 0.0);
            let velocity = number(note, "vel")?.unwrap_or(DEFAULT_VELOCITY);
            let note = Note {
                tick: start_tick.saturating_sub(item.start_tick),
                length_ticks: note_end.saturating_sub(start_tick).max(min_ticks),
                pitch: pitch as u8,
                velocity: velocity.clamp(0.0, 1.0),
                extra: Extra::default(),
            };
            self.contents.add_note(item, note)?;
        }
        Ok(())
    }

    fn markers(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        for marker in node.children().filter(|child| child.name() == "Marker") {
            self.step()?;
            let beats = scope.beats_at(required_number(marker, "time")?);
            if (scope.start_beats..scope.end_beats).contains(&beats) {
                let (tick, name) = (tick_of_beats(beats), name_of(marker));
                self.contents.add_marker(Marker { tick, name, extra: Extra::default() })?;
            }
        }
        Ok(())
    }
}

/// Whether an element is a timeline.
fn is_timeline(node: Node<'_>) -> bool {
    matches!(
        node.name(),
        "Timeline"
            | "Lanes"
            | "Notes"
            | "Clips"
            | "ClipSlot"
            | "markers"
            | "Markers"
            | "Warps"
            | "Audio"
            | "Video"
            | "Points"
    )
}

/// Whether the content of a clip is for notes.
fn has_notes(content: Node<'_>) -> bool {
    content.name() == "Notes"
        || (content.name() == "Lanes" && content.children().any(|child| child.name() == "Notes"))
        || is_expression(content)
}

/// Whether a loop repeats a file from the start of the clip to the end of the file.
fn is_loop_of_file(
    content: Node<'_>,
    unit: TimeUnit,
    play_start: f64,
    loop_start: f64,
    loop_end: f64,
) -> Result<bool, Refusal> {
    let audio = if content.name() == "Lanes" { content.child("Audio") } else { Some(content) };
    let Some(audio) = audio.filter(|node| node.name() == "Audio") else { return Ok(false) };
    let file_end = number(audio, "duration")?.unwrap_or(0.0);
    Ok(unit == TimeUnit::Seconds
        && (play_start - loop_start).abs() < 1e-6
        && (loop_end - file_end).abs() < 1e-3)
}
