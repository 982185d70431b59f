//! Writes `project.xml` and `metadata.xml`.

use std::collections::HashMap;
use std::io::{self, Write};

use schemas::Project;
use schemas::project::{AutomationCurve, AutomationLane, Control, Item, SynthEngine, Track};

use super::item_writer::{ExportedAudio, ItemWriter};
use super::level::{gain_of_db, normalized_of_pan};
use super::mixer_writer::{
    MASTER_TRACK_ID, MASTER_VOLUME_ID, MixerWriter, pan_id, send_id, track_id, volume_id,
};
use super::time_scale::{TimeScale, beats_of_tick};
use super::xml_writer::{Element, XmlWriter};

/// Version of the format.
const FORMAT_VERSION: &str = "1.0";

/// Ids of the elements of the transport.
const TEMPO_ID: &str = "tempo";
const SIGNATURE_ID: &str = "time-signature";

/// Writes `project.xml`. `audio` has the audio files by their ids in the project.
///
/// # Errors
/// The destination fails.
pub(super) fn write_project(
    destination: impl Write,
    project: &Project,
    audio: &HashMap<String, ExportedAudio>,
) -> io::Result<()> {
    let mut xml = XmlWriter::new(destination)?;
    let scale = TimeScale::new(&project.tempo_map);
    let items = ItemWriter { scale: &scale, audio };
    xml.element(Element::new("Project").text("version", FORMAT_VERSION), |xml| {
        let application = Element::new("Application").text("name", "Songfoundry");
        xml.empty(application.text("version", env!("CARGO_PKG_VERSION")))?;
        write_transport(xml, project)?;
        MixerWriter::new(project).write(xml)?;
        xml.element(Element::new("Arrangement").text("id", "arrangement"), |xml| {
            xml.element(Element::new("Lanes").text("timeUnit", "beats"), |xml| {
                for (index, track) in project.tracks.iter().enumerate() {
                    write_lanes(xml, index, track, &items)?;
                }
                xml.element(Element::new("Lanes").text("track", MASTER_TRACK_ID), |xml| {
                    for lane in project.master.automation.iter().filter(|lane| lane.target == "volume_db") {
                        write_automation(xml, lane, MASTER_VOLUME_ID, &gain_of_db, "linear")?;
                    }
                    Ok(())
                })
            })?;
            write_markers(xml, project)?;
            write_tempo_automation(xml, project)
        })
    })
}

fn write_transport(xml: &mut XmlWriter<impl Write>, project: &Project) -> io::Result<()> {
    xml.element(Element::new("Transport"), |xml| {
        let tempo = Element::new("Tempo").text("id", TEMPO_ID).text("name", "Tempo").text("unit", "bpm");
        let bpm = project.tempo_map.first().map_or(120.0, |point| point.bpm);
        xml.empty(tempo.number("min", 1.0).number("max", 100_000.0).number("value", bpm))?;
        let (numerator, denominator) =
            project.time_signatures.first().map_or((4, 4), |first| (first.numerator, first.denominator));
        let signature = Element::new("TimeSignature").text("id", SIGNATURE_ID);
        let signature = signature.whole("numerator", numerator.into());
        xml.empty(signature.whole("denominator", denominator.into()))
    })
}

fn write_lanes(
    xml: &mut XmlWriter<impl Write>,
    index: usize,
    track: &Track,
    items: &ItemWriter<'_>,
) -> io::Result<()> {
    xml.element(Element::new("Lanes").text("track", &track_id(index)), |xml| {
        xml.element(Element::new("Clips"), |xml| {
            track.items.iter().try_for_each(|item| match item {
                Item::Midi(item) => items.write_midi(xml, item),
                Item::Audio(item) => items.write_audio(xml, item),
                Item::Section(_) => Ok(()),
            })
        })?;
        for lane in &track.automation {
            match lane.target.as_str() {
                "volume_db" => write_automation(xml, lane, &volume_id(index), &gain_of_db, "linear")?,
                "pan" => write_automation(xml, lane, &pan_id(index), &normalized_of_pan, "normalized")?,
                target => {
                    let bus = target.strip_prefix("send/");
                    let send = track.sends.iter().position(|send| Some(&*send.to) == bus);
                    if let Some(number) = send {
                        write_automation(xml, lane, &send_id(index, number), &gain_of_db, "linear")?;
                    }
                }
            }
        }
        Ok(())
    })
}

fn write_automation(
    xml: &mut XmlWriter<impl Write>,
    lane: &AutomationLane,
    parameter_id: &str,
    convert: &dyn Fn(f64) -> f64,
    unit: &str,
) -> io::Result<()> {
    xml.element(Element::new("Points").text("unit", unit), |xml| {
        xml.empty(Element::new("Target").text("parameter", parameter_id))?;
        for point in &lane.points {
            let interpolation = if point.curve == AutomationCurve::Step { "hold" } else { "linear" };
            let element = Element::new("RealPoint").number("time", beats_of_tick(point.tick.into()));
            xml.empty(element.number("value", convert(point.value)).text("interpolation", interpolation))?;
        }
        Ok(())
    })
}

fn write_markers(xml: &mut XmlWriter<impl Write>, project: &Project) -> io::Result<()> {
    if project.markers.is_empty() {
        return Ok(());
    }
    xml.element(Element::new("Markers").text("timeUnit", "beats"), |xml| {
        project.markers.iter().try_for_each(|marker| {
            let element = Element::new("Marker").number("time", beats_of_tick(marker.tick.into()));
            xml.empty(element.text("name", &marker.name))
        })
    })
}

fn write_tempo_automation(xml: &mut XmlWriter<impl Write>, project: &Project) -> io::Result<()> {
    if project.tempo_map.len() > 1 {
        let automation = Element::new("TempoAutomation").text("timeUnit", "beats").text("unit", "bpm");
        xml.element(automation, |xml| {
            xml.empty(Element::new("Target").text("parameter", TEMPO_ID))?;
            project.tempo_map.iter().try_for_each(|point| {
                let element = Element::new("RealPoint").number("time", beats_of_tick(point.tick.into()));
                xml.empty(element.number("value", point.bpm).text("interpolation", "hold"))
            })
        })?;
    }
    if project.time_signatures.len() > 1 {
        xml.element(Element::new("TimeSignatureAutomation").text("timeUnit", "beats"), |xml| {
            xml.empty(Element::new("Target").text("parameter", SIGNATURE_ID))?;
            project.time_signatures.iter().try_for_each(|signature| {
                let element = Element::new("TimeSignaturePoint");
                let element = element.number("time", beats_of_tick(signature.tick.into()));
                let element = element.whole("numerator", signature.numerator.into());
                xml.empty(element.whole("denominator", signature.denominator.into()))
            })
        })?;
    }
    Ok(())
}

/// Writes `metadata.xml`. Its comment lists the data of the project that the file does not have.
///
/// # Errors
/// The destination fails.
pub(super) fn write_metadata(
    destination: impl Write,
    project: &Project,
    missing_files: usize,
) -> io::Result<()> {
    let mut xml = XmlWriter::new(destination)?;
    xml.element(Element::new("MetaData"), |xml| {
        xml.text_element("Title", &project.name)?;
        let left_out = left_out(project, missing_files);
        match left_out.is_empty() {
            true => Ok(()),
            false => {
                xml.text_element("Comment", &format!("Left out or simplified: {}.", left_out.join("; ")))
            }
        }
    })
}

/// Returns the kinds of data of the project that are left out or simplified.
fn left_out(project: &Project, missing_files: usize) -> Vec<String> {
    let tracks = &project.tracks;
    let items = || tracks.iter().flat_map(|track| &track.items);
    let midi_items = || tracks.iter().flat_map(Track::midi_items);
    let lanes = || tracks.iter().flat_map(|track| &track.automation).chain(&project.master.automation);
    let is_mixer = |target: &str| matches!(target, "volume_db" | "pan") || target.starts_with("send/");
    let is_arc =
        |curve: AutomationCurve| matches!(curve, AutomationCurve::Curvature(curvature) if curvature != 0.0);
    let is_plugin = |engine: &SynthEngine| !matches!(engine, SynthEngine::SoundFont(_));
    let is_parameter = |control: &Control| matches!(control, Control::Rpn(_) | Control::Nrpn(_));
    let has_effects = tracks.iter().any(|track| !track.effects.is_empty());
    let left_out_parts = [
        ("effects", has_effects || !project.master.effects.is_empty()),
        ("plugin instruments", tracks.iter().filter_map(|track| track.synth_engine.as_ref()).any(is_plugin)),
        ("automation of effects", lanes().any(|lane| !is_mixer(&lane.target))),
        (
            "curves of automation, which are straight lines",
            lanes().flat_map(|lane| &lane.points).any(|point| is_arc(point.curve)),
        ),
        ("sections", items().any(|item| matches!(item, Item::Section(_)))),
        (
            "banks and programs of clips",
            midi_items().any(|item| item.soundfont_bank.or(item.soundfont_program).is_some()),
        ),
        (
            "registered and non-registered MIDI parameters",
            midi_items().flat_map(|item| &item.controls).any(is_parameter),
        ),
    ];
    let mut left_out: Vec<String> =
        left_out_parts.into_iter().filter(|(_, is_used)| *is_used).map(|(name, _)| name.to_owned()).collect();
    if missing_files > 0 {
        left_out.push(format!("clips of {missing_files} audio files that the service does not have"));
    }
    left_out
}
