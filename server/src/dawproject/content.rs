//! Collects the content of the tracks of a file, with limits.

use std::collections::HashMap;

use schemas::Extra;
use schemas::limits::{MAX_EVENT_BYTES, event_bytes};
use schemas::project::{AutomationLane, AutomationPoint, Control, Marker, MidiItem, Note};

use super::mixer_reader::Target;
use super::refusal::Refusal;

/// Maximum number of points of all automation together.
const POINTS_MAX: usize = 500_000;

/// Maximum number of clips of all tracks together, after loops are written out. A project can have
/// as many items on one track.
const CLIPS_MAX: usize = 100_000;

/// Maximum number of different audio files of a project.
const FILES_MAX: usize = 10_000;

/// Maximum length of the path of an audio file, in bytes.
const PATH_MAX_BYTES: usize = 1_024;

/// Maximum number of markers, as in the project schema.
const MARKERS_MAX: usize = 100_000;

/// A piece of audio on a track. Its length in frames is known only after its file was imported.
#[derive(Debug)]
pub(super) struct AudioClip {
    pub(super) name: String,
    pub(super) start_tick: u32,
    /// Position in the file at which the clip begins.
    pub(super) offset_secs: f64,
    pub(super) length_secs: f64,
    pub(super) fade_in_secs: f64,
    pub(super) fade_out_secs: f64,
    pub(super) gain_db: f64,
    pub(super) is_looped: bool,
    /// Index of the file's path.
    pub(super) file: usize,
}

/// The content of a track.
#[derive(Debug, Default)]
pub(super) struct TrackContent {
    pub(super) midi: Vec<MidiItem>,
    pub(super) audio: Vec<AudioClip>,
    pub(super) automation: Vec<AutomationLane>,
}

/// The content of a file, by track.
#[derive(Debug, Default)]
pub(super) struct FileContents {
    pub(super) tracks: Vec<TrackContent>,
    pub(super) markers: Vec<Marker>,
    /// Paths of audio files in the archive.
    pub(super) paths: Vec<String>,
    path_indices: HashMap<String, usize>,
    notes: usize,
    controls: usize,
    points: usize,
    clips: usize,
}

impl FileContents {
    /// Returns the contents of a file without clips.
    pub(super) fn new(tracks: usize) -> Self {
        Self { tracks: (0..tracks).map(|_| TrackContent::default()).collect(), ..Self::default() }
    }

    /// Adds a note to an item.
    ///
    /// # Errors
    /// The file has more notes and controls than a project can have.
    pub(super) fn add_note(&mut self, item: &mut MidiItem, note: Note) -> Result<(), Refusal> {
        self.notes += 1;
        self.check_events()?;
        item.notes.push(note);
        Ok(())
    }

    /// Adds a control to an item.
    ///
    /// # Errors
    /// The file has more notes and controls than a project can have.
    pub(super) fn add_control(&mut self, item: &mut MidiItem, control: Control) -> Result<(), Refusal> {
        self.controls += 1;
        self.check_events()?;
        item.controls.push(control);
        Ok(())
    }

    fn check_events(&self) -> Result<(), Refusal> {
        if event_bytes(self.notes, self.controls) > MAX_EVENT_BYTES {
            return Err(Refusal::from_reason(format!(
                "with its loops written out, the first {} notes and {} controls need {} bytes of memory; a project may \
                 use {MAX_EVENT_BYTES} for them",
                self.notes,
                self.controls,
                event_bytes(self.notes, self.controls)
            )));
        }
        Ok(())
    }

    /// Counts one more clip.
    ///
    /// # Errors
    /// The file has too many clips.
    pub(super) fn count_clip(&mut self) -> Result<(), Refusal> {
        self.clips += 1;
        if self.clips > CLIPS_MAX {
            return Err(Refusal::from_reason(format!(
                "with its loops written out it has more than {CLIPS_MAX} clips"
            )));
        }
        Ok(())
    }

    /// Adds a point to the automation of a parameter.
    ///
    /// # Errors
    /// The file has too many points.
    pub(super) fn add_point(
        &mut self,
        track: usize,
        target: &Target,
        point: AutomationPoint,
    ) -> Result<(), Refusal> {
        self.points += 1;
        if self.points > POINTS_MAX {
            return Err(Refusal::from_reason(format!("it has more than {POINTS_MAX} points of automation")));
        }
        let name = match target {
            Target::Volume => "volume_db",
            Target::Pan => "pan",
            Target::Send(name) => name,
        };
        let lanes = &mut self.tracks[track].automation;
        let index = lanes.iter().position(|lane| lane.target == name).unwrap_or_else(|| {
            lanes.push(AutomationLane {
                target: name.to_owned(),
                points: Vec::new(),
                extra: Extra::default(),
            });
            lanes.len() - 1
        });
        lanes[index].points.push(point);
        Ok(())
    }

    /// Adds a marker.
    ///
    /// # Errors
    /// The file has too many markers.
    pub(super) fn add_marker(&mut self, marker: Marker) -> Result<(), Refusal> {
        if self.markers.len() == MARKERS_MAX {
            return Err(Refusal::from_reason(format!("it has more than {MARKERS_MAX} markers")));
        }
        self.markers.push(marker);
        Ok(())
    }

    /// Returns the index of the path of an audio file. Adds a path that is new.
    ///
    /// # Errors
    /// The path is too long, or there are too many paths.
    pub(super) fn path_index(&mut self, path: &str) -> Result<usize, Refusal> {
        if let Some(&index) = self.path_indices.get(path) {
            return Ok(index);
        }
        if path.len() > PATH_MAX_BYTES {
            return Err(Refusal::from_reason(format!(
                "the path of an audio file that begins with `{}` has {} bytes, and at most {PATH_MAX_BYTES} are allowed",
                path.chars().filter(|character| !character.is_control()).take(40).collect::<String>(),
                path.len()
            )));
        }
        if self.paths.len() == FILES_MAX {
            return Err(Refusal::from_reason(format!("it uses more than {FILES_MAX} audio files")));
        }
        self.paths.push(path.to_owned());
        self.path_indices.insert(path.to_owned(), self.paths.len() - 1);
        Ok(self.paths.len() - 1)
    }

    /// Sorts notes, MIDI controls, automation points and markers by their position.
    pub(super) fn sort(&mut self) {
        for track in &mut self.tracks {
            for item in &mut track.midi {
                item.notes.sort_by_key(|note| note.tick);
                item.controls.sort_by_key(Control::tick);
            }
            for lane in &mut track.automation {
                lane.points.sort_by_key(|point| point.tick);
            }
        }
        self.markers.sort_by_key(|marker| marker.tick);
    }
}
