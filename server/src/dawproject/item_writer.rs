//! Writes items as clips.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use schemas::project::{AudioItem, Control, MidiItem};

use super::expressions::fraction_of_bend;
use super::level::gain_of_db;
use super::time_scale::{TimeScale, TimeUnit, beats_of_tick};
use super::xml_writer::{Element, XmlWriter};

/// Maximum value of 7-bit MIDI data.
const SEVEN_BITS_MAX: f64 = 127.0;

/// An audio file in the archive.
#[derive(Debug)]
pub(super) struct ExportedAudio {
    pub(super) entry: String,
    pub(super) sample_rate_hz: u32,
    pub(super) channels: u32,
    pub(super) frames: u64,
}

/// Writes the items of a project.
pub(super) struct ItemWriter<'i> {
    pub(super) scale: &'i TimeScale,
    /// The audio files by their ids.
    pub(super) audio: &'i HashMap<String, ExportedAudio>,
}

impl ItemWriter<'_> {
    /// Writes notes and controls as a clip.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn write_midi(&self, xml: &mut XmlWriter<impl Write>, item: &MidiItem) -> io::Result<()> {
        let clip = clip(item.start_tick, item.name.as_deref())
            .number("duration", beats_of_tick(item.length_ticks.into()))
            .number("playStart", 0.0);
        let targets = points_by_target(&item.controls);
        xml.element(clip, |xml| {
            if targets.is_empty() {
                return write_notes(xml, item);
            }
            xml.element(Element::new("Lanes"), |xml| {
                write_notes(xml, item)?;
                targets.iter().try_for_each(|(target, points)| write_controls(xml, target, points))
            })
        })
    }

    /// Writes a piece of an audio file as a clip. An item without a file is left out.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn write_audio(&self, xml: &mut XmlWriter<impl Write>, item: &AudioItem) -> io::Result<()> {
        let id = item.source.server_file_id.as_ref().or(item.server_file_id.as_ref());
        let Some(file) = id.and_then(|id| self.audio.get(id)) else { return Ok(()) };
        let secs = |frames: u64| frames as f64 / f64::from(file.sample_rate_hz);
        let available_frames = file.frames.saturating_sub(item.offset_frames);
        let length_frames = match item.length_frames {
            Some(length_frames) if item.looped => length_frames,
            Some(length_frames) => length_frames.min(available_frames),
            None => available_frames,
        };
        if length_frames == 0 || available_frames == 0 {
            return Ok(());
        }
        let start_beats = beats_of_tick(item.start_tick.into());
        let end_beats = self.scale.after(start_beats, secs(length_frames), TimeUnit::Seconds);
        let mut clip = clip(item.start_tick, item.name.as_deref())
            .number("duration", end_beats - start_beats)
            .text("contentTimeUnit", "seconds")
            .number("playStart", secs(item.offset_frames));
        if item.looped {
            clip = clip.number("loopStart", secs(item.offset_frames)).number("loopEnd", secs(file.frames));
        }
        let (in_frames, out_frames) =
            item.fades.as_ref().map_or((0, 0), |fades| (fades.in_frames, fades.out_frames));
        clip = clip
            .text("fadeTimeUnit", "seconds")
            .number("fadeInTime", secs(in_frames.min(length_frames)))
            .number("fadeOutTime", secs(out_frames.min(length_frames)));
        xml.element(clip, |xml| {
            if item.gain_db == 0.0 {
                return write_file(xml, file, secs(file.frames));
            }
            xml.element(Element::new("Lanes").text("timeUnit", "seconds"), |xml| {
                write_file(xml, file, secs(file.frames))?;
                xml.element(Element::new("Points").text("unit", "linear"), |xml| {
                    xml.empty(Element::new("Target").text("expression", "gain"))?;
                    let point = Element::new("RealPoint").number("time", secs(item.offset_frames));
                    xml.empty(point.number("value", gain_of_db(item.gain_db)).text("interpolation", "hold"))
                })
            })
        })
    }
}

fn clip(start_tick: u32, name: Option<&str>) -> Element {
    let clip = Element::new("Clip").number("time", beats_of_tick(start_tick.into()));
    match name {
        Some(name) => clip.text("name", name),
        None => clip,
    }
}

fn write_notes(xml: &mut XmlWriter<impl Write>, item: &MidiItem) -> io::Result<()> {
    xml.element(Element::new("Notes"), |xml| {
        item.notes.iter().try_for_each(|note| {
            xml.empty(
                Element::new("Note")
                    .number("time", beats_of_tick(note.tick.into()))
                    .number("duration", beats_of_tick(note.length_ticks.into()))
                    .whole("channel", 0)
                    .whole("key", note.pitch.into())
                    .number("vel", note.velocity),
            )
        })
    })
}

fn write_file(xml: &mut XmlWriter<impl Write>, file: &ExportedAudio, secs: f64) -> io::Result<()> {
    let audio = Element::new("Audio")
        .text("timeUnit", "seconds")
        .number("duration", secs)
        .whole("sampleRate", file.sample_rate_hz.into())
        .whole("channels", file.channels.into());
    xml.element(audio, |xml| xml.empty(Element::new("File").text("path", &file.entry)))
}

/// The target of MIDI controls in the file: the expression, and the controller or key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ControlTarget {
    expression: &'static str,
    controller: Option<u8>,
    midi_key: Option<u8>,
}

/// Returns the controls as points by their target. Registered and non-registered parameters have no
/// target in the format, so they are left out.
fn points_by_target(controls: &[Control]) -> BTreeMap<ControlTarget, Vec<(u32, f64)>> {
    let mut targets: BTreeMap<ControlTarget, Vec<(u32, f64)>> = BTreeMap::new();
    for control in controls {
        let (expression, controller, midi_key, value) = match control {
            Control::Cc(control) => {
                ("channelController", Some(control.controller), None, seven_bits(control.value))
            }
            Control::Bend(control) => ("pitchBend", None, None, fraction_of_bend(control.value)),
            Control::Pressure(control) => ("channelPressure", None, None, seven_bits(control.value)),
            Control::KeyPressure(control) => {
                ("polyPressure", None, Some(control.key), seven_bits(control.value))
            }
            Control::Program(control) => ("programChange", None, None, seven_bits(control.program)),
            Control::Rpn(_) | Control::Nrpn(_) => continue,
        };
        let target = ControlTarget { expression, controller, midi_key };
        targets.entry(target).or_default().push((control.tick(), value));
    }
    targets
}

fn seven_bits(value: u8) -> f64 {
    f64::from(value) / SEVEN_BITS_MAX
}

fn write_controls(
    xml: &mut XmlWriter<impl Write>,
    target: &ControlTarget,
    points: &[(u32, f64)],
) -> io::Result<()> {
    xml.element(Element::new("Points").text("unit", "normalized"), |xml| {
        let mut element = Element::new("Target").text("expression", target.expression).whole("channel", 0);
        if let Some(controller) = target.controller {
            element = element.whole("controller", controller.into());
        }
        if let Some(midi_key) = target.midi_key {
            element = element.whole("key", midi_key.into());
        }
        xml.empty(element)?;
        points.iter().try_for_each(|&(tick, value)| {
            let point = Element::new("RealPoint").number("time", beats_of_tick(tick.into()));
            xml.empty(point.number("value", value).text("interpolation", "hold"))
        })
    })
}
