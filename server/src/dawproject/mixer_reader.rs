//! Reads the structure of a file: tracks, their channels, sends and outputs.

use std::collections::HashMap;

use schemas::Extra;
use schemas::project::{Master, Send, SoundFontEngine, SynthEngine, Track, TrackKind};

use super::element_tree::{Node, Tree};
use super::level::{Unit, db_of, gain_of_db, pan_of};
use super::refusal::Refusal;
use super::values::{INSTRUMENT_ID, name_of, number, value_of};
use super::warnings::Warnings;

/// Maximum number of tracks besides the master, as in the project schema.
const TRACKS_MAX: usize = 1_000;

/// Maximum number of sends of all buses and groups together. The search for cycles takes at most
/// the square of this number of steps. Other tracks have no inputs, so their sends form no cycles.
const BUS_SENDS_MAX: usize = 8_000;

/// Warning about devices.
const DEVICES_LEFT_OUT: &str = "Devices and plugins were left out";

/// Role of a track of the file in the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Notes or audio, which the content determines.
    Content,
    Bus,
    Group,
    Master,
    /// A folder without a channel, or a channel that a project cannot have.
    Absent,
}

/// A track of the file.
#[derive(Debug)]
pub(super) struct ReadTrack {
    pub(super) role: Role,
    /// Whether the file states that the track is for notes.
    pub(super) is_for_notes: bool,
    /// The track of the project, without its content.
    pub(super) track: Track,
    parent: Option<usize>,
    destination: Option<String>,
}

/// A parameter of the mixer that automation can refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Volume,
    Pan,
    /// Level of a send. The text is the target in a project.
    Send(String),
}

/// A parameter with the index of its track and the unit of its value.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) track: usize,
    pub(super) target: Target,
    pub(super) unit: Unit,
}

/// The structure of a file.
#[derive(Debug, Default)]
pub(super) struct Mixer {
    /// The tracks, in the order of the file, depth first.
    pub(super) tracks: Vec<ReadTrack>,
    pub(super) master: Master,
    /// Whether a track of the file is the master.
    has_master: bool,
    /// Index of a track by the id of its element.
    pub(super) by_track_id: HashMap<String, usize>,
    /// The parameters by the id of their elements.
    pub(super) parameters: HashMap<String, Parameter>,
    by_channel_id: HashMap<String, usize>,
    sends: Vec<ReadSend>,
    /// Number of sends of buses and groups.
    bus_sends: usize,
}

/// A send between the tracks with these indices.
#[derive(Debug)]
struct ReadSend {
    source_index: usize,
    destination_index: usize,
    level_db: f64,
    is_pre_fader: bool,
    /// Id and unit of the parameter of its level.
    parameter: Option<(String, Unit)>,
}

impl Mixer {
    /// Reads the structure of a file.
    ///
    /// # Errors
    /// There are more tracks or sends than a project can have.
    pub(super) fn read(tree: &Tree, warnings: &mut Warnings) -> Result<Self, Refusal> {
        let mut mixer = Self::default();
        if let Some(structure) = tree.root().child("Structure") {
            mixer.read_tracks(structure, None, warnings)?;
            mixer.read_sends(structure, warnings)?;
        }
        mixer.connect(warnings);
        Ok(mixer)
    }

    fn read_tracks(
        &mut self,
        parent: Node<'_>,
        parent_index: Option<usize>,
        warnings: &mut Warnings,
    ) -> Result<(), Refusal> {
        for node in parent.children().filter(|node| is_track(*node, parent_index)) {
            let index = self.tracks.len();
            let channel = if node.name() == "Channel" { Some(node) } else { node.child("Channel") };
            let track = self.read_track(node, channel, index, parent_index, warnings);
            self.has_master |= track.role == Role::Master;
            self.tracks.push(track);
            if self.tracks.len() > TRACKS_MAX + usize::from(self.has_master) {
                return Err(Refusal::from_reason(format!("it has more than {TRACKS_MAX} tracks")));
            }
            for (element, ids) in [(Some(node), &mut self.by_track_id), (channel, &mut self.by_channel_id)] {
                if let Some(id) = element.and_then(|element| element.attribute("id")) {
                    ids.insert(id.into_owned(), index);
                }
            }
            if node.name() == "Track" {
                self.read_tracks(node, Some(index), warnings)?;
            }
        }
        Ok(())
    }

    fn read_track(
        &mut self,
        node: Node<'_>,
        channel: Option<Node<'_>>,
        index: usize,
        parent: Option<usize>,
        warnings: &mut Warnings,
    ) -> ReadTrack {
        let name = name_of(node);
        let has_tracks = node.name() == "Track" && node.child("Track").is_some();
        let content = node.attribute("contentType").unwrap_or_default();
        let has_content = |kind: &str| content.split([' ', ',']).any(|word| word == kind);
        let mixer_role = channel.and_then(|channel| channel.attribute("role")).unwrap_or_default();
        let role = match (&*mixer_role, channel.is_some()) {
            ("vca", _) => {
                warnings.add("Faders that only control other faders (VCA) were left out", &name);
                Role::Absent
            }
            ("master", _)
                if !has_tracks && !has_content("tracks") && !self.has_master && parent.is_none() =>
            {
                Role::Master
            }
            ("effect", _) => Role::Bus,
            ("submix", _) => Role::Group,
            (_, true) if has_tracks || has_content("tracks") => Role::Group,
            (_, false) if has_tracks || has_content("tracks") => {
                warnings.add("Folders without a mixer channel were left out; their tracks were kept", &name);
                Role::Absent
            }
            _ if node.name() == "Channel" => Role::Bus,
            _ => Role::Content,
        };
        let mut track = Track::new(format!("track-{}", index + 1), TrackKind::Audio);
        track.name = name;
        track.color = node.attribute("color").and_then(|color| colour(&color));
        if let Some(channel) = channel {
            self.read_channel(channel, index, role, &mut track, warnings);
        }
        ReadTrack {
            role,
            is_for_notes: has_content("notes") && !has_content("audio"),
            track,
            parent,
            destination: channel
                .and_then(|channel| channel.attribute("destination"))
                .map(|id| id.into_owned()),
        }
    }

    fn read_channel(
        &mut self,
        channel: Node<'_>,
        index: usize,
        role: Role,
        track: &mut Track,
        warnings: &mut Warnings,
    ) {
        track.mute = channel.child("Mute").is_some_and(|mute| is_true(mute, "value"));
        track.solo = is_true(channel, "solo");
        if let Some(volume) = channel.child("Volume") {
            let unit = unit_of(volume, Unit::Linear);
            track.volume_db = value_of(volume).map_or(0.0, |value| db_of(value, unit));
            self.add_parameter(volume, index, Target::Volume, unit);
        }
        if let Some(pan) = channel.child("Pan") {
            let unit = unit_of(pan, Unit::Normalized);
            track.pan = value_of(pan).map_or(0.0, |value| pan_of(value, unit));
            self.add_parameter(pan, index, Target::Pan, unit);
        }
        if role == Role::Master {
            self.master.volume_db = track.volume_db;
            if track.pan != 0.0 || track.mute {
                warnings.add("Pan and mute of the master were left out", "");
            }
        }
        for device in channel.child("Devices").into_iter().flat_map(Node::children) {
            match instrument(device) {
                Some(engine) => track.synth_engine = Some(engine),
                None => warnings.add(DEVICES_LEFT_OUT, &device_name(device)),
            }
        }
    }

    fn add_parameter(&mut self, node: Node<'_>, track: usize, target: Target, unit: Unit) {
        if let Some(id) = node.attribute("id") {
            self.parameters.insert(id.into_owned(), Parameter { track, target, unit });
        }
    }

    /// Reads the sends of all channels. All channels must already have an index.
    fn read_sends(&mut self, structure: Node<'_>, warnings: &mut Warnings) -> Result<(), Refusal> {
        let mut open_nodes = vec![structure];
        while let Some(node) = open_nodes.pop() {
            if node.name() == "Channel" {
                self.read_channel_sends(node, warnings)?;
            }
            open_nodes.extend(node.children().filter(|child| matches!(child.name(), "Track" | "Channel")));
        }
        Ok(())
    }

    fn read_channel_sends(&mut self, channel: Node<'_>, warnings: &mut Warnings) -> Result<(), Refusal> {
        let Some(source_index) = channel.attribute("id").and_then(|id| self.by_channel_id.get(&*id).copied())
        else {
            return Ok(());
        };
        for send in channel.child("Sends").into_iter().flat_map(Node::children) {
            if send.name() != "Send" {
                continue;
            }
            if is_bus(self.tracks[source_index].role) {
                self.bus_sends += 1;
                if self.bus_sends > BUS_SENDS_MAX {
                    let detail =
                        format!("its effect channels and groups have more than {BUS_SENDS_MAX} sends");
                    return Err(Refusal::from_reason(detail));
                }
            }
            let name = &self.tracks[source_index].track.name;
            let destination_index =
                send.attribute("destination").and_then(|id| self.by_channel_id.get(&*id).copied());
            let Some(destination_index) = destination_index else {
                warnings.add("Sends without a known destination were left out, of tracks", name);
                continue;
            };
            let volume = send.child("Volume");
            let unit = volume.map_or(Unit::Linear, |volume| unit_of(volume, Unit::Linear));
            let level_db = volume.and_then(value_of).map_or(0.0, |value| db_of(value, unit));
            if send.child("Enable").is_some_and(|enable| is_false(enable, "value")) {
                // Many programs write a silent send from every track to every effect channel.
                if gain_of_db(level_db) > 0.0 {
                    warnings.add("Sends that are switched off were left out, of tracks", name);
                }
                continue;
            }
            let is_pre_fader = send.attribute("type").is_some_and(|kind| kind == "pre");
            let parameter =
                volume.and_then(|volume| volume.attribute("id")).map(|id| (id.into_owned(), unit));
            self.sends.push(ReadSend { source_index, destination_index, level_db, is_pre_fader, parameter });
        }
        Ok(())
    }

    /// Sets outputs and sends. Leaves out a route to a track without inputs, and a route that
    /// closes a cycle.
    fn connect(&mut self, warnings: &mut Warnings) {
        let mut fed_tracks: Vec<Vec<usize>> = vec![Vec::new(); self.tracks.len()];
        for index in 0..self.tracks.len() {
            let Some(destination_index) = self.output_of(index) else { continue };
            if self.can_feed(index, destination_index, &fed_tracks) {
                fed_tracks[index].push(destination_index);
                self.tracks[index].track.output = Some(self.tracks[destination_index].track.id.clone());
            } else {
                let sentence =
                    "Outputs to tracks that have no inputs, or that form a cycle, became the master";
                warnings.add(sentence, &self.tracks[index].track.name);
            }
        }
        for send in std::mem::take(&mut self.sends) {
            let ReadSend { source_index, destination_index, level_db, is_pre_fader, parameter } = send;
            let is_twice = {
                let id = &self.tracks[destination_index].track.id;
                self.tracks[source_index].track.sends.iter().any(|send| send.to == *id)
            };
            let is_from_track = !matches!(self.tracks[source_index].role, Role::Master | Role::Absent);
            if !is_from_track || is_twice || !self.can_feed(source_index, destination_index, &fed_tracks) {
                let sentence =
                    "Sends to tracks that have no inputs, or that form a cycle, were left out, of tracks";
                warnings.add(sentence, &self.tracks[source_index].track.name);
                continue;
            }
            fed_tracks[source_index].push(destination_index);
            let destination_id = self.tracks[destination_index].track.id.clone();
            if let Some((id, unit)) = parameter {
                let target = Target::Send(format!("send/{destination_id}"));
                self.parameters.insert(id, Parameter { track: source_index, target, unit });
            }
            self.tracks[source_index].track.sends.push(Send {
                to: destination_id,
                level_db,
                pre_fader: is_pre_fader,
                extra: Extra::default(),
            });
        }
    }

    /// Returns the track that a track feeds; `None` for the master.
    fn output_of(&self, index: usize) -> Option<usize> {
        let track = &self.tracks[index];
        if matches!(track.role, Role::Master | Role::Absent) {
            return None;
        }
        let destination_index = match track.destination.as_deref() {
            None => None,
            Some(id) => self.by_channel_id.get(id).copied(),
        };
        if destination_index.is_some() {
            return destination_index
                .filter(|&destination_index| self.tracks[destination_index].role != Role::Master);
        }
        // A track without a destination that is inside a group feeds the group.
        if track.destination.is_some() {
            return None;
        }
        let mut parent = track.parent;
        while let Some(group) = parent {
            if self.tracks[group].role == Role::Group {
                return Some(group);
            }
            parent = self.tracks[group].parent;
        }
        None
    }

    fn can_feed(&self, source_index: usize, destination_index: usize, fed_tracks: &[Vec<usize>]) -> bool {
        if source_index == destination_index || !is_bus(self.tracks[destination_index].role) {
            return false;
        }
        if !is_bus(self.tracks[source_index].role) {
            return true;
        }
        let mut is_visited = vec![false; fed_tracks.len()];
        let mut next = vec![destination_index];
        while let Some(index) = next.pop() {
            if index == source_index {
                return false;
            }
            if !std::mem::replace(&mut is_visited[index], true) {
                next.extend(&fed_tracks[index]);
            }
        }
        true
    }
}

/// Whether tracks of this role have inputs.
fn is_bus(role: Role) -> bool {
    matches!(role, Role::Bus | Role::Group)
}

/// Whether an element is a track of the structure. A channel inside a track belongs to that track.
fn is_track(node: Node<'_>, parent: Option<usize>) -> bool {
    node.name() == "Track" || (node.name() == "Channel" && parent.is_none())
}

/// Returns the instrument of a device that an export of this service has written.
fn instrument(device: Node<'_>) -> Option<SynthEngine> {
    if device.attribute("deviceID")? != INSTRUMENT_ID {
        return None;
    }
    let parameter = |name: &str| {
        let parameters = device.child("Parameters")?;
        let parameter_node = parameters
            .children()
            .find(|parameter| parameter.attribute("name").is_some_and(|node_name| node_name == name));
        parameter_node.and_then(value_of)
    };
    let bank = parameter("Bank").unwrap_or(0.0).clamp(0.0, 128.0) as u8;
    let program = parameter("Program").unwrap_or(0.0).clamp(0.0, 127.0) as u8;
    let soundfont_id = device.attribute("comment").filter(|id| (1..=128).contains(&id.chars().count()));
    Some(SynthEngine::SoundFont(SoundFontEngine {
        soundfont_id: soundfont_id.map(|id| id.into_owned()),
        bank,
        program,
        extra: Extra::default(),
    }))
}

fn device_name(device: Node<'_>) -> String {
    let name_attribute = device.attribute("deviceName").or_else(|| device.attribute("name"));
    name_attribute.map_or_else(|| device.name().to_owned(), |name| name.into_owned())
}

fn unit_of(parameter: Node<'_>, default: Unit) -> Unit {
    parameter.attribute("unit").and_then(|unit| Unit::from_name(&unit)).unwrap_or(default)
}

fn is_true(node: Node<'_>, attribute: &str) -> bool {
    node.attribute(attribute).is_some_and(|value| matches!(&*value, "true" | "1"))
}

pub(super) fn is_false(node: Node<'_>, attribute: &str) -> bool {
    node.attribute(attribute).is_some_and(|value| matches!(&*value, "false" | "0"))
}

/// Returns a colour as `#rrggbb`. The transparency of `#rrggbbaa` is left out.
fn colour(text: &str) -> Option<String> {
    let digits = text.strip_prefix('#')?;
    let is_colour = matches!(digits.len(), 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_colour.then(|| format!("#{}", digits[..6].to_ascii_lowercase()))
}

/// Returns the tempo of the transport, a parameter.
pub(super) fn transport_tempo(tree: &Tree) -> Option<Node<'_>> {
    tree.root().child("Transport")?.child("Tempo")
}

/// Returns numerator and denominator of the transport's time signature.
pub(super) fn transport_signature(tree: &Tree) -> Result<Option<(f64, f64)>, Refusal> {
    let transport = tree.root().child("Transport");
    match transport.and_then(|transport| transport.child("TimeSignature")) {
        Some(node) => Ok(number(node, "numerator")?.zip(number(node, "denominator")?)),
        None => Ok(None),
    }
}
