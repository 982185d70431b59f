//! Writes the structure of a project: tracks with their channels, sends and outputs.

use std::collections::HashMap;
use std::io::{self, Write};

use schemas::Project;
use schemas::project::{SynthEngine, Track, TrackKind};

use super::level::{gain_of_db, normalized_of_pan};
use super::values::INSTRUMENT_ID;
use super::xml_writer::{Element, XmlWriter};

/// Maximum linear gain of a fader, which is the 24 dB of a project.
const GAIN_MAX: f64 = 15.848_931_924_611_133;

/// Maximum depth of groups inside groups. A deeper group is written at the top level, and its
/// output is set to the group that it feeds.
const GROUPS_DEPTH_MAX: usize = 16;

/// Id of the element of the master's track.
pub(super) const MASTER_TRACK_ID: &str = "track-master";

/// Id of the element of the master's channel.
const MASTER_CHANNEL_ID: &str = "channel-master";

/// Id of the element of the master's volume.
pub(super) const MASTER_VOLUME_ID: &str = "volume-master";

/// The tracks of a project, by their ids and by the groups that they feed.
#[derive(Debug)]
pub(super) struct MixerWriter<'p> {
    project: &'p Project,
    index_of: HashMap<&'p str, usize>,
    /// Indices of the tracks that are written inside each group.
    tracks_in_group: Vec<Vec<usize>>,
    /// Indices of the tracks that are written at the top level.
    top_level_tracks: Vec<usize>,
}

impl<'p> MixerWriter<'p> {
    /// Arranges the tracks of a project.
    pub(super) fn new(project: &'p Project) -> Self {
        let tracks = &project.tracks;
        let index_of: HashMap<&str, usize> =
            tracks.iter().enumerate().map(|(index, track)| (&*track.id, index)).collect();
        let group_of = |index: usize| {
            let group = *index_of.get(tracks[index].output.as_deref()?)?;
            (tracks[group].kind == TrackKind::Group && group != index).then_some(group)
        };
        let (mut inside, mut outside) = (vec![Vec::new(); tracks.len()], Vec::new());
        for index in 0..tracks.len() {
            let (mut depth, mut next) = (0, group_of(index));
            while let Some(group) = next.filter(|_| depth < GROUPS_DEPTH_MAX) {
                (depth, next) = (depth + 1, group_of(group));
            }
            match group_of(index).filter(|_| next.is_none()) {
                Some(group) => inside[group].push(index),
                None => outside.push(index),
            }
        }
        Self { project, index_of, tracks_in_group: inside, top_level_tracks: outside }
    }

    /// Writes all tracks and the master.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn write(&self, xml: &mut XmlWriter<impl Write>) -> io::Result<()> {
        xml.element(Element::new("Structure"), |xml| {
            self.top_level_tracks.iter().try_for_each(|&index| self.write_track(xml, index))?;
            let track = Element::new("Track").text("id", MASTER_TRACK_ID).text("name", "Master");
            xml.element(track.text("contentType", "audio notes").switch("loaded", true), |xml| {
                let channel = Element::new("Channel").text("id", MASTER_CHANNEL_ID);
                xml.element(channel.text("role", "master").whole("audioChannels", 2), |xml| {
                    xml.empty(volume("Volume", MASTER_VOLUME_ID, self.project.master.volume_db))
                })
            })
        })
    }

    fn write_track(&self, xml: &mut XmlWriter<impl Write>, index: usize) -> io::Result<()> {
        let track = &self.project.tracks[index];
        let content = match track.kind {
            TrackKind::Instrument => "notes",
            TrackKind::Audio | TrackKind::Bus => "audio",
            TrackKind::Group => "tracks",
        };
        let mut element = Element::new("Track")
            .text("id", &track_id(index))
            .text("name", &track.name)
            .text("contentType", content)
            .switch("loaded", true);
        if let Some(color) = &track.color {
            element = element.text("color", color);
        }
        xml.element(element, |xml| {
            self.write_channel(xml, index, track)?;
            self.tracks_in_group[index].iter().try_for_each(|&index| self.write_track(xml, index))
        })
    }

    fn write_channel(&self, xml: &mut XmlWriter<impl Write>, index: usize, track: &Track) -> io::Result<()> {
        let role = match track.kind {
            TrackKind::Instrument | TrackKind::Audio => "regular",
            TrackKind::Bus => "effect",
            TrackKind::Group => "submix",
        };
        let output = track.output.as_deref().and_then(|id| self.index_of.get(id));
        let destination = output
            .map_or_else(|| MASTER_CHANNEL_ID.to_owned(), |&destination_index| channel_id(destination_index));
        let channel = Element::new("Channel")
            .text("id", &channel_id(index))
            .text("role", role)
            .whole("audioChannels", 2)
            .switch("solo", track.solo)
            .text("destination", &destination);
        xml.element(channel, |xml| {
            if let Some(engine) = &track.synth_engine {
                write_instrument(xml, engine)?;
            }
            let mute = Element::new("Mute").text("id", &format!("mute-{index}")).text("name", "Mute");
            xml.empty(mute.switch("value", track.mute))?;
            let pan = Element::new("Pan").text("id", &pan_id(index)).text("name", "Pan");
            let pan = pan.text("unit", "normalized").number("min", 0.0).number("max", 1.0);
            xml.empty(pan.number("value", normalized_of_pan(track.pan)))?;
            self.write_sends(xml, index, track)?;
            xml.empty(volume("Volume", &volume_id(index), track.volume_db))
        })
    }

    fn write_sends(&self, xml: &mut XmlWriter<impl Write>, index: usize, track: &Track) -> io::Result<()> {
        if track.sends.is_empty() {
            return Ok(());
        }
        xml.element(Element::new("Sends"), |xml| {
            for (number, send) in track.sends.iter().enumerate() {
                let Some(&destination_index) = self.index_of.get(&*send.to) else { continue };
                let element = Element::new("Send")
                    .text("destination", &channel_id(destination_index))
                    .text("type", if send.pre_fader { "pre" } else { "post" });
                xml.element(element, |xml| {
                    xml.empty(volume("Volume", &send_id(index, number), send.level_db))
                })?;
            }
            Ok(())
        })
    }
}

/// Writes the SoundFont preset as a device. The comment has the id of the bank.
fn write_instrument(xml: &mut XmlWriter<impl Write>, engine: &SynthEngine) -> io::Result<()> {
    let SynthEngine::SoundFont(engine) = engine else { return Ok(()) };
    let mut device = Element::new("BuiltinDevice")
        .text("deviceID", INSTRUMENT_ID)
        .text("deviceName", "SoundFont")
        .text("deviceRole", "instrument")
        .text("name", &format!("SoundFont bank {}, program {}", engine.bank, engine.program));
    if let Some(id) = &engine.soundfont_id {
        device = device.text("comment", id);
    }
    xml.element(Element::new("Devices"), |xml| {
        xml.element(device, |xml| {
            xml.element(Element::new("Parameters"), |xml| {
                for (name, value) in [("Bank", engine.bank), ("Program", engine.program)] {
                    xml.empty(
                        Element::new("IntegerParameter").text("name", name).whole("value", value.into()),
                    )?;
                }
                Ok(())
            })
        })
    })
}

fn volume(name: &'static str, id: &str, level_db: f64) -> Element {
    let element = Element::new(name).text("id", id).text("name", "Volume").text("unit", "linear");
    element.number("min", 0.0).number("max", GAIN_MAX).number("value", gain_of_db(level_db))
}

/// Returns the id of a track's element.
pub(super) fn track_id(index: usize) -> String {
    format!("track-{index}")
}

fn channel_id(index: usize) -> String {
    format!("channel-{index}")
}

/// Returns the id of the element of a track's volume.
pub(super) fn volume_id(index: usize) -> String {
    format!("volume-{index}")
}

/// Returns the id of the element of a track's pan.
pub(super) fn pan_id(index: usize) -> String {
    format!("pan-{index}")
}

/// Returns the id of the element of a send's level.
pub(super) fn send_id(index: usize, number: usize) -> String {
    format!("send-{index}-{number}")
}
