//! Decoding one file: from its packets to samples and peaks, with silence where something is
//! damaged.

use std::path::Path;

use super::packets::End;
use super::refusal::disk;
use super::repair;
use super::sink::Sink;
use super::source::{self, Next, Source};
use super::{Facts, Job, Refusal, Report};

/// Decodes the file of `job` into its two outputs. `progress` hears the share that is read.
pub(in crate::audio) fn decode(job: &Job, progress: &mut dyn FnMut(f64)) -> Result<Report, Refusal> {
    let repair = repair::thorough(&job.input).map_err(disk)?;
    let mut damage = Damage { has_stale_size: repair.has_stale_size, ..Damage::default() };
    let mut source = Source::open(&job.input, repair)?;
    let mut sink = None;
    // What is missing before the first sound, whose rate is not known yet.
    let mut lead_frames = 0_u64;
    let mut interleaved: Vec<f32> = Vec::new();
    loop {
        match source.next(&mut interleaved) {
            Next::Frames(spec) => {
                let sink = match &mut sink {
                    Some(sink) => sink,
                    empty => {
                        let sink = empty.insert(Sink::new(job, &spec, source.container() == "isomp4")?);
                        sink.silence(lead_frames)?;
                        sink
                    }
                };
                sink.write(&spec, &mut interleaved)?;
                damage.goes_on = false;
            }
            Next::Damaged(frames) => {
                damage.add();
                match &mut sink {
                    Some(sink) => sink.silence(frames)?,
                    None => lead_frames = lead_frames.saturating_add(frames),
                }
            }
            Next::Ended(how) => {
                damage.end = how;
                break;
            }
            Next::Failed(refusal) => return Err(refusal),
        }
        progress(source.share());
    }
    let sink = sink.filter(|sink| sink.frames() > 0 && damage.packets <= sink.packets);
    let Some(sink) = sink else {
        return Err(source.unsupported.take().unwrap_or_else(|| damage.why_nothing()));
    };
    let warnings = damage.warnings(source.promised_frames, &sink);
    sink.finish(&source, warnings)
}

/// What the header of a file says; `None` if it is no audio file that is read here.
pub(in crate::audio) fn inspect(path: &Path) -> Option<Facts> {
    source::inspect(path).ok().flatten()
}

/// What was wrong with a file.
#[derive(Debug, Default)]
struct Damage {
    /// Packets that cannot be decoded, and gaps.
    packets: u64,
    /// How many places they are at: those that follow one another are one.
    places: u64,
    goes_on: bool,
    has_stale_size: bool,
    end: End,
}

impl Damage {
    fn add(&mut self) {
        self.packets += 1;
        self.places += u64::from(!self.goes_on);
        self.goes_on = true;
    }

    fn why_nothing(&self) -> Refusal {
        let why = if self.packets > 0 {
            "is damaged: most of it cannot be decoded"
        } else if self.end == End::Early {
            "ends before its first sound"
        } else {
            "holds no sound"
        };
        Refusal::Malformed(why.to_owned())
    }

    fn warnings(&self, promised_frames: Option<u64>, sink: &Sink) -> Vec<String> {
        let mut warnings = Vec::new();
        let frames = sink.decoded_frames;
        // Encoders' delays and paddings make small differences in sound files.
        let short =
            promised_frames.is_some_and(|promised| promised > frames + u64::from(sink.sample_rate_hz) / 10);
        if self.has_stale_size {
            let what = "The header was never completed; all that follows it was read as sound.";
            warnings.push(what.to_owned());
        }
        if self.end == End::Early || short {
            warnings.push("The file ends earlier than it says; what is there was kept.".to_owned());
        }
        if self.end == End::Chained {
            warnings.push("Only the first of several streams one after another was read.".to_owned());
        }
        match self.places {
            0 => {}
            1 => warnings.push("1 damaged place is silent.".to_owned()),
            places => warnings.push(format!("{places} damaged places are silent.")),
        }
        match sink.bad_values {
            0 => {}
            1 => warnings.push("1 value that is no number was set to zero.".to_owned()),
            values => warnings.push(format!("{values} values that are no numbers were set to zero.")),
        }
        warnings
    }
}
