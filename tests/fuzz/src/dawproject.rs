//! Fuzz target for the project of a DAWproject file. A text must be refused with a reason, or
//! become a project in bounded memory. The project is valid, unless it exceeds a limit, and can be
//! played.

use schemas::Project;
use schemas::json::JsonText;

use crate::choices::Choices;
use crate::{Seed, mutate, with_memory_limit};

/// The readers of the service.
#[path = "../../../server/src/dawproject"]
#[expect(dead_code, reason = "the writers and the import of the service use it")]
mod reader {
    mod audio_reader;
    mod content;
    mod element_tree;
    mod expressions;
    mod level;
    mod metadata_reader;
    mod mixer_reader;
    mod points_reader;
    mod project_reader;
    mod refusal;
    mod scope;
    mod tempo_reader;
    mod time_scale;
    mod timeline_reader;
    mod values;
    mod warnings;

    use project_reader::SourceFile;
    use refusal::Refusal;
    use schemas::Project;

    /// Returns the title in a text.
    pub(super) fn title(text: &[u8]) -> Option<String> {
        metadata_reader::title(text)
    }

    /// Reads a project of which every second audio file is missing. Also returns the warnings.
    ///
    /// # Errors
    /// The text is refused. The error is the reason.
    pub(super) fn read(text: Vec<u8>) -> Result<(Project, Vec<String>), String> {
        let empty = Project::new("fuzz".to_owned(), "Imported".to_owned());
        let mut read = match project_reader::read(text, empty, &|| false) {
            Ok(read) => read,
            Err(Refusal::Bad(reason)) => return Err(reason),
            Err(error) => panic!("refused for another reason: {error}"),
        };
        let file = |number: usize| SourceFile {
            id: format!("file-{number}"),
            url: format!("/api/v1/audio/file-{number}/file"),
            sample_rate_hz: 44_100,
            frames: 100_000,
        };
        let files: Vec<_> = (0..read.paths.len())
            .map(|number| if number % 2 == 0 { Ok(file(number)) } else { Err(()) })
            .collect();
        read.add_audio(&files);
        Ok((read.project, read.warnings.into_sentences()))
    }
}

/// Size in bytes of the longest text that needs as much memory as a short text whose loops are
/// expanded. The service uses the same limit.
const LOOPS_BYTES: usize = 8 << 20;

/// Returns the maximum memory of reading a text.
fn limit_bytes(text: &[u8]) -> usize {
    10 * text.len().max(LOOPS_BYTES)
}

/// Panics if a text is read incorrectly.
pub fn check(text: &[u8]) {
    if let Some(title) = reader::title(text) {
        assert!(!title.chars().any(char::is_control), "{title:?}");
    }
    let copy = text.to_vec();
    match with_memory_limit(limit_bytes(text), "reading a project", || reader::read(copy)) {
        Ok((project, warnings)) => check_project(&project, &warnings),
        Err(reason) => assert!(!reason.is_empty() && !reason.ends_with('.'), "{reason:?}"),
    }
}

fn check_project(project: &Project, warnings: &[String]) {
    for sentence in warnings {
        assert!(sentence.ends_with('.') && !sentence.chars().any(char::is_control), "{sentence:?}");
    }
    let document = JsonText::of_value(&serde_json::to_value(project).expect("a project is JSON"));
    if let Err(violations) = schemas::validate::validate(&document) {
        for violation in violations {
            let names_limit = ["at most", "more than"].iter().any(|words| violation.detail.contains(words));
            assert!(names_limit, "{}: {}", violation.pointer, violation.detail);
        }
        return;
    }
    let session = schemas::session::build(project, project.sample_rate_hz, |_| Some(0));
    assert!(session.is_ok(), "{session:?}");
}

/// Mutates a text.
pub fn mutate(text: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    mutate::xml::mutate(text, choices)
}

/// A track with notes, controls and automation, in a group.
const NOTES: &str = r#"
<Transport><Tempo unit="bpm" value="120" id="tempo"/><TimeSignature numerator="3" denominator="4" id="meter"/></Transport>
<Structure><Track contentType="tracks" id="group" name="Group"><Channel role="master" destination="out" id="group-channel"/>
  <Track contentType="notes" id="keys" name="Keys"><Channel role="regular" destination="group-channel" solo="true" id="keys-channel">
   <Volume unit="decibel" value="-6" id="volume"/><Pan unit="normalized" value="0.25" id="pan"/><Mute value="true" id="mute"/>
   <Sends><Send destination="room-channel" type="pre"><Volume unit="linear" value="0.5" id="send"/></Send></Sends>
   <Devices><BuiltinDevice deviceID="songfoundry.soundfont" deviceName="bank" deviceRole="instrument">
    <Parameters><IntegerParameter name="Bank" value="128"/><IntegerParameter name="Program" value="25"/></Parameters>
   </BuiltinDevice></Devices></Channel></Track></Track>
 <Track contentType="audio" id="room" name="Room"><Channel role="effect" destination="out" id="room-channel"/></Track>
 <Track contentType="audio notes" id="main" name="Master"><Channel role="master" id="out"/></Track></Structure>
<Arrangement><Lanes timeUnit="beats"><Lanes track="keys"><Clips>
  <Clip time="4" duration="5" playStart="1" loopStart="0" loopEnd="2" name="Riff"><Lanes><Notes id="notes">
    <Note time="0" duration="0.5" channel="0" key="40" vel="0.5"/>
    <Note time="1.5" duration="1" channel="9" key="43"><Points><Target expression="pressure"/><RealPoint time="0" value="0.5"/></Points></Note>
   </Notes><Points unit="normalized"><Target expression="channelController" channel="0" controller="64"/>
    <RealPoint time="0" value="1"/><RealPoint time="1" value="0"/></Points>
   <Points unit="normalized"><Target expression="pitchBend" channel="0"/><RealPoint time="0" value="0.75" interpolation="linear"/></Points></Lanes></Clip>
  <Clip time="12" duration="2" reference="notes"/></Clips>
  <Points unit="linear"><Target parameter="volume"/><RealPoint time="0" value="0.1" interpolation="hold"/><RealPoint time="8" value="1"/></Points>
  <Points unit="normalized"><Target parameter="pan"/><RealPoint time="2" value="1"/></Points></Lanes></Lanes>
 <Markers><Marker time="2" name="Verse"/></Markers>
 <TempoAutomation timeUnit="beats" unit="bpm"><Target parameter="tempo"/><RealPoint time="0" value="120" interpolation="linear"/>
  <RealPoint time="16" value="60" interpolation="hold"/></TempoAutomation>
 <TimeSignatureAutomation><Target parameter="meter"/><TimeSignaturePoint time="6" numerator="7" denominator="8"/></TimeSignatureAutomation>
</Arrangement>"#;

/// Two tracks with audio: in beats with warps, and in seconds with a loop.
const AUDIO: &str = r#"
<Transport><Tempo unit="bpm" value="98.5" id="tempo"/></Transport>
<Structure><Track contentType="audio" id="drums" name="Drums"><Channel role="regular" id="drums-channel"/></Track>
 <Track contentType="audio notes" id="voice" name="Voice"><Channel role="regular" id="voice-channel"/></Track></Structure>
<Arrangement><Lanes timeUnit="beats"><Lanes track="drums"><Clips>
  <Clip time="0" duration="2" playStart="0" fadeTimeUnit="beats" fadeInTime="0.5" fadeOutTime="0.25" name="Loop"><Clips>
   <Clip time="0" duration="2" contentTimeUnit="beats" playStart="0"><Warps contentTimeUnit="seconds" timeUnit="beats">
    <Audio channels="1" duration="1" sampleRate="48000"><File path="audio/a.wav"/></Audio>
    <Warp time="0" contentTime="0"/><Warp time="2" contentTime="1"/></Warps></Clip></Clips></Clip></Clips></Lanes></Lanes>
 <Lanes timeUnit="seconds"><Lanes track="voice"><Clips timeUnit="seconds">
  <Clip time="1" duration="9" contentTimeUnit="seconds" loopStart="0" loopEnd="1.5"><Audio channels="2" duration="3" sampleRate="44100">
   <File path="audio/b.flac"/></Audio></Clip>
  <Clip time="12" duration="1"><Notes><Note time="0" duration="1" key="60"/></Notes></Clip></Clips></Lanes></Lanes>
</Arrangement><Scenes><Scene name="One"><ClipSlot track="drums"/></Scene></Scenes>"#;

/// Returns projects with notes, with audio, with both and without content, and metadata.
pub fn seeds() -> Vec<Seed> {
    let project = |content: &str| {
        format!(r#"<?xml version="1.0" encoding="UTF-8"?><Project version="1.0">{content}</Project>"#)
    };
    [
        ("notes.xml", project(NOTES)),
        ("audio.xml", project(AUDIO)),
        ("empty.xml", project("<Structure/>")),
        ("definition.xml", "<!DOCTYPE Project [<!ENTITY a 'b'>]><Project/>".to_owned()),
        ("metadata.xml", "<MetaData><Title>A &amp; <![CDATA[B]]> &#x1F3B5;</Title></MetaData>".to_owned()),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
    .to_vec()
}

/// Returns no seeds.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}
