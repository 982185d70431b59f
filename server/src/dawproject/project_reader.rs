//! Reads `project.xml` into a project. Its audio is added after the audio files were imported.

use schemas::Extra;
use schemas::Project;
use schemas::project::{AudioItem, AudioSource, Fades, Item, SoundFontEngine, SynthEngine, Track, TrackKind};

use super::content::{AudioClip, TrackContent};
use super::element_tree::Tree;
use super::mixer_reader::{Mixer, ReadTrack, Role};
use super::refusal::Refusal;
use super::tempo_reader::{tempo_map, time_signatures};
use super::time_scale::TimeScale;
use super::timeline_reader;
use super::warnings::Warnings;

/// A project whose audio files are not imported yet.
#[derive(Debug)]
pub(super) struct ReadProject {
    pub(super) project: Project,
    /// The audio of each track of the project.
    audio: Vec<Vec<AudioClip>>,
    /// Paths of audio files in the archive.
    pub(super) paths: Vec<String>,
    pub(super) warnings: Warnings,
}

/// An imported audio file.
#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) sample_rate_hz: u32,
    pub(super) frames: u64,
}

/// Reads a project. `is_cancelled` returns whether the caller has disconnected.
///
/// # Errors
/// The text is not XML or not a project, a limit is exceeded, or the caller disconnected.
pub(super) fn read(
    text: Vec<u8>,
    mut project: Project,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<ReadProject, Refusal> {
    let tree =
        Tree::read(text).map_err(|error| Refusal::from_reason(format!("in `project.xml`, {error}")))?;
    if tree.root().name() != "Project" {
        return Err(Refusal::from_reason("the outermost element of `project.xml` is not `Project`"));
    }
    let mut warnings = Warnings::default();
    project.tempo_map = tempo_map(&tree, &mut warnings)?;
    let scale = TimeScale::new(&project.tempo_map);
    project.time_signatures = time_signatures(&tree, &scale, &mut warnings)?;
    let mixer = Mixer::read(&tree, &mut warnings)?;
    let contents = timeline_reader::read(&tree, &mixer, &scale, &mut warnings, is_cancelled)?;
    drop(tree);
    project.markers = contents.markers;
    project.master = mixer.master;
    let mut read_project = ReadProject { project, audio: Vec::new(), paths: contents.paths, warnings };
    for (track, content) in mixer.tracks.into_iter().zip(contents.tracks) {
        read_project.add_track(track, content);
    }
    Ok(read_project)
}

impl ReadProject {
    fn add_track(&mut self, read_track: ReadTrack, content: TrackContent) {
        let ReadTrack { role, is_for_notes, mut track, .. } = read_track;
        let TrackContent { midi, audio, automation } = content;
        match role {
            Role::Master => {
                let is_volume = |lane: &schemas::project::AutomationLane| lane.target == "volume_db";
                self.project.master.automation = automation.into_iter().filter(is_volume).collect();
                self.warn_of_content(&track, !midi.is_empty() || !audio.is_empty());
            }
            Role::Absent => self.warn_of_content(&track, !midi.is_empty() || !audio.is_empty()),
            Role::Bus | Role::Group => {
                track.kind = if role == Role::Bus { TrackKind::Bus } else { TrackKind::Group };
                track.automation = automation;
                self.warn_of_content(&track, !midi.is_empty() || !audio.is_empty());
                self.push(track, Vec::new());
            }
            Role::Content => {
                track.automation = automation;
                let is_instrument =
                    !midi.is_empty() || (audio.is_empty() && (is_for_notes || track.synth_engine.is_some()));
                let audio_track = (is_instrument && !audio.is_empty()).then(|| audio_twin(&track));
                if is_instrument {
                    track.kind = TrackKind::Instrument;
                    track.items = midi.into_iter().map(Item::Midi).collect();
                    track.synth_engine.get_or_insert_with(default_instrument);
                }
                match audio_track {
                    Some(audio_track) => {
                        self.warnings.add("Tracks with notes and audio became two tracks", &track.name);
                        self.push(track, Vec::new());
                        self.push(audio_track, audio);
                    }
                    None => self.push(track, audio),
                }
            }
        }
    }

    fn push(&mut self, mut track: Track, audio: Vec<AudioClip>) {
        if track.kind != TrackKind::Instrument {
            track.synth_engine = None;
        }
        self.project.tracks.push(track);
        self.audio.push(audio);
    }

    fn warn_of_content(&mut self, track: &Track, has_content: bool) {
        if has_content {
            self.warnings.add("Clips on groups, effect channels and the master were left out", &track.name);
        }
    }

    /// Adds the audio items. `files` has the imported file of each path, if there is one.
    pub(super) fn add_audio<E>(&mut self, files: &[Result<SourceFile, E>]) {
        for (track, clips) in self.project.tracks.iter_mut().zip(std::mem::take(&mut self.audio)) {
            for clip in clips {
                let file = files.get(clip.file).and_then(|file| file.as_ref().ok());
                if let Some(item) = file.and_then(|file| audio_item(clip, file, track.items.len() + 1)) {
                    track.items.push(Item::Audio(item));
                }
            }
        }
    }
}

/// Returns the item of a clip; `None` if no frame of its file plays.
fn audio_item(clip: AudioClip, file: &SourceFile, number: usize) -> Option<AudioItem> {
    let frames = |secs: f64| (secs * f64::from(file.sample_rate_hz)).round().max(0.0) as u64;
    let offset_frames = frames(clip.offset_secs);
    let available_frames = file.frames.checked_sub(offset_frames).filter(|&frames| frames > 0)?;
    let wanted_frames = frames(clip.length_secs);
    let length_frames = if clip.is_looped { wanted_frames } else { wanted_frames.min(available_frames) };
    let fade = |secs| frames(secs).min(length_frames);
    let fades = Fades {
        in_frames: fade(clip.fade_in_secs),
        out_frames: fade(clip.fade_out_secs),
        extra: Extra::default(),
    };
    (length_frames > 0).then(|| AudioItem {
        id: format!("audio-{number}"),
        name: Some(clip.name).filter(|name| !name.is_empty()),
        start_tick: clip.start_tick,
        offset_frames,
        length_frames: Some(length_frames),
        gain_db: clip.gain_db,
        fades: Some(fades).filter(|fades| fades.in_frames + fades.out_frames > 0),
        looped: clip.is_looped,
        source: AudioSource { server_file_id: Some(file.id.clone()), extra: Extra::default() },
        processing: None,
        server_file_id: Some(file.id.clone()),
        audio_file_url: Some(file.url.clone()),
        take_id: None,
        extra: Extra::default(),
    })
}

/// Returns a second track for the audio of a track that has both notes and audio.
fn audio_twin(track: &Track) -> Track {
    let name: String = track.name.chars().take(490).collect();
    Track { id: format!("{}-audio", track.id), name: format!("{name} (audio)"), ..track.clone() }
}

fn default_instrument() -> SynthEngine {
    SynthEngine::SoundFont(SoundFontEngine {
        soundfont_id: None,
        bank: 0,
        program: 0,
        extra: Extra::default(),
    })
}
