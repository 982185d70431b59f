//! Decodes one file to samples and peaks, with silence in place of damaged parts.

use std::path::Path;

use super::packets::End;
use super::refusal::disk_error;
use super::repair;
use super::sink::Sink;
use super::source::{self, DecodeEvent, Source};
use super::{HeaderInfo, Job, Refusal, Report};

/// Decodes the file of `job` into its two outputs. `progress` receives the fraction of the file
/// that was read, 0 to 1.
pub(in crate::audio) fn decode(job: &Job, progress: &mut dyn FnMut(f64)) -> Result<Report, Refusal> {
    let repair = repair::scan_file(&job.input).map_err(disk_error)?;
    let mut damage = Damage { has_stale_size: repair.has_stale_size, ..Damage::default() };
    let mut source = Source::open(&job.input, repair)?;
    let mut sink = None;
    // Missing frames before the first packet. They are written when the sample rate is known.
    let mut lead_frames = 0_u64;
    let mut interleaved: Vec<f32> = Vec::new();
    loop {
        match source.next(&mut interleaved) {
            DecodeEvent::Frames(spec) => {
                let sink = match &mut sink {
                    Some(sink) => sink,
                    empty => {
                        let sink = empty.insert(Sink::new(job, &spec, source.container() == "isomp4")?);
                        sink.write_silence(lead_frames)?;
                        sink
                    }
                };
                sink.write(&spec, &mut interleaved)?;
                damage.is_in_section = false;
            }
            DecodeEvent::Damaged(frames) => {
                damage.add();
                match &mut sink {
                    Some(sink) => sink.write_silence(frames)?,
                    None => lead_frames = lead_frames.saturating_add(frames),
                }
            }
            DecodeEvent::Ended(end) => {
                damage.end = end;
                break;
            }
            DecodeEvent::Failed(refusal) => return Err(refusal),
        }
        progress(source.fraction_read());
    }
    let sink = sink.filter(|sink| sink.frames() > 0 && damage.packets <= sink.packets);
    let Some(sink) = sink else {
        return Err(source.unsupported_refusal.take().unwrap_or_else(|| damage.refusal()));
    };
    let warnings = damage.warnings(source.declared_frames, &sink);
    sink.finish(&source, warnings)
}

/// Reads the header of a file. Returns `None` if the file is not supported audio.
pub(in crate::audio) fn inspect(path: &Path) -> Option<HeaderInfo> {
    source::inspect(path).ok().flatten()
}

/// The damage found in a file.
#[derive(Debug, Default)]
struct Damage {
    /// Number of gaps and of packets that cannot be decoded.
    packets: u64,
    /// Number of damaged sections. Adjacent damaged packets form one section.
    sections: u64,
    is_in_section: bool,
    has_stale_size: bool,
    end: End,
}

impl Damage {
    fn add(&mut self) {
        self.packets += 1;
        self.sections += u64::from(!self.is_in_section);
        self.is_in_section = true;
    }

    fn refusal(&self) -> Refusal {
        let reason = if self.packets > 0 {
            "is damaged: most of it cannot be decoded"
        } else if self.end == End::Early {
            "ends before its audio data begins"
        } else {
            "contains no audio data"
        };
        Refusal::Malformed(reason.to_owned())
    }

    fn warnings(&self, declared_frames: Option<u64>, sink: &Sink) -> Vec<String> {
        let mut warnings = Vec::new();
        let frames = sink.decoded_frames;
        // The delay and padding of encoders cause small differences even in intact files.
        let is_short =
            declared_frames.is_some_and(|declared| declared > frames + u64::from(sink.sample_rate_hz) / 10);
        if self.has_stale_size {
            let warning = "The header is incomplete; everything after it was read as audio.";
            warnings.push(warning.to_owned());
        }
        if self.end == End::Early || is_short {
            warnings.push(
                "The file is shorter than its header says; the audio that it contains was kept.".to_owned(),
            );
        }
        if self.end == End::Chained {
            warnings.push("The file contains several streams; only the first one was read.".to_owned());
        }
        match self.sections {
            0 => {}
            1 => warnings.push("1 damaged section was replaced by silence.".to_owned()),
            count => warnings.push(format!("{count} damaged sections were replaced by silence.")),
        }
        match sink.invalid_samples {
            0 => {}
            1 => warnings.push("1 sample that was infinite or not a number was set to zero.".to_owned()),
            count => {
                warnings.push(format!("{count} samples that were infinite or not numbers were set to zero."));
            }
        }
        warnings
    }
}
