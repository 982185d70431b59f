//! Decoding one file with `symphonia`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsp_core::downmix::Downmix;
use symphonia::core::audio::AudioSpec;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream};
use symphonia::core::meta::MetadataOptions;

use super::mp4_edit::{self, Edit};
use super::speakers::speakers;
use super::{Facts, Job, Limits, Refusal, Report, SAMPLE_RATES_HZ};
use crate::audio::float_wav::{self, FloatWavWriter};
use crate::audio::peaks_file::PeaksWriter;

/// A damaged packet that claims to last longer than this many frames is left out without silence in its place.
const SILENCE_MAX_FRAMES: u64 = 65_536;

/// Decodes the file of `job` into its two outputs. `progress` hears the share that is read.
pub(super) fn decode(job: &Job, progress: &mut dyn FnMut(f64)) -> Result<Report, Refusal> {
    let input = CountedFile::open(&job.input).map_err(disk)?;
    let (position, size_bytes) = (Arc::clone(&input.position), input.size_bytes);
    let mut source = Source::open(input)?;
    let mut sink = None;
    let mut damage = Damage::default();
    let mut interleaved: Vec<f32> = Vec::new();
    loop {
        match source.next(&mut interleaved) {
            Next::Frames(spec) => {
                let sink = match &mut sink {
                    Some(sink) => sink,
                    empty => empty.insert(Sink::new(job, &spec, source.is_mp4())?),
                };
                sink.write(&spec, &mut interleaved)?;
            }
            Next::Damaged { frames, reason } => {
                damage.packets += 1;
                damage.reason = reason;
                if let Some(sink) = &mut sink {
                    sink.silence(frames)?;
                }
            }
            Next::Ended(how) => {
                damage.end = how;
                break;
            }
            Next::Failed(refusal) => return Err(refusal),
        }
        progress(position.load(Ordering::Relaxed) as f64 / size_bytes.max(1) as f64);
    }
    let Some(sink) = sink.filter(|sink| sink.samples.frames() > 0) else {
        return Err(Refusal::Malformed(damage.why_nothing()));
    };
    if damage.packets > sink.packets {
        return Err(Refusal::Malformed(format!(
            "is damaged: most of it cannot be decoded ({})",
            damage.reason
        )));
    }
    let warnings = damage.warnings(source.promised_frames, &sink);
    sink.finish(&source, warnings)
}

/// What the header of a file says; `None` if it is no audio file that is read here.
pub(super) fn inspect(path: &Path) -> Option<Facts> {
    let source = Source::open(CountedFile::open(path).ok()?).ok()?;
    let track = source.format.default_track(TrackType::Audio)?;
    let params = track.codec_params.as_ref()?.audio()?;
    Some(Facts {
        container: source.format.format_info().short_name.to_owned(),
        codec: source.decoder.codec_info().short_name.to_owned(),
        sample_rate_hz: params.sample_rate?,
        channels: params.channels.as_ref()?.count() as u32,
        frames: source.promised_frames,
    })
}

fn disk(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Refusal::NoRoom
        }
        _ => Refusal::Io(error.to_string()),
    }
}

/// How the end of the packets came.
#[derive(Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Regular,
    /// The file stops in the middle of something.
    Early,
    /// Another stream follows.
    Chained,
}

/// What was wrong with a file.
#[derive(Debug, Default)]
struct Damage {
    packets: u64,
    reason: String,
    end: End,
}

impl Damage {
    fn why_nothing(&self) -> String {
        if self.packets > 0 {
            format!("is damaged: none of it can be decoded ({})", self.reason)
        } else if self.end == End::Early {
            "ends before its first sound".to_owned()
        } else {
            "holds no sound".to_owned()
        }
    }

    fn warnings(&self, promised_frames: Option<u64>, sink: &Sink) -> Vec<String> {
        let mut warnings = Vec::new();
        let frames = sink.decoded_frames;
        // Encoders' delays and paddings make small differences in sound files.
        let short =
            promised_frames.is_some_and(|promised| promised > frames + u64::from(sink.sample_rate_hz) / 10);
        if self.end == End::Early || short {
            warnings.push("The file ends earlier than it says; what is there was kept.".to_owned());
        }
        if self.end == End::Chained {
            warnings.push("Only the first of several streams one after another was read.".to_owned());
        }
        if self.packets > 0 {
            warnings.push(format!("{} damaged places are silent ({}).", self.packets, self.reason));
        }
        if sink.bad_values > 0 {
            warnings.push(format!("{} values that are no numbers were set to zero.", sink.bad_values));
        }
        warnings
    }
}

/// What comes next from a file.
enum Next {
    /// Frames, interleaved.
    Frames(AudioSpec),
    /// A packet that cannot be decoded, of so many frames.
    Damaged { frames: u64, reason: String },
    /// Nothing any more.
    Ended(End),
    /// The file cannot be used.
    Failed(Refusal),
}

/// An opened file.
struct Source {
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track_id: u32,
    promised_frames: Option<u64>,
}

impl Source {
    fn open(input: CountedFile) -> Result<Self, Refusal> {
        let unknown = || Refusal::Unsupported("is no kind of audio file that is read here".to_owned());
        let stream = MediaSourceStream::new(Box::new(input), Default::default());
        let probed = symphonia::default::get_probe().probe(
            &Hint::new(),
            stream,
            FormatOptions::default(),
            MetadataOptions::default(),
        );
        let format = probed.map_err(|error| match error {
            Error::Unsupported(what) if what.contains("no suitable format reader") => unknown(),
            other => refusal(other),
        })?;
        let track = format
            .default_track(TrackType::Audio)
            .ok_or_else(|| Refusal::Unsupported("holds no audio that is read here".to_owned()))?;
        let params = track.codec_params.as_ref().and_then(|params| params.audio()).ok_or_else(unknown)?;
        let codecs = symphonia::default::get_codecs();
        let decoder = codecs.make_audio_decoder(params, &AudioDecoderOptions::default()).map_err(refusal)?;
        let (track_id, promised_frames) = (track.id, track.num_frames);
        Ok(Self { format, decoder, track_id, promised_frames })
    }

    fn is_mp4(&self) -> bool {
        self.format.format_info().short_name == "isomp4"
    }

    fn next(&mut self, interleaved: &mut Vec<f32>) -> Next {
        let packet = loop {
            match self.format.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track_id => break packet,
                Ok(Some(_)) => {}
                Ok(None) => return Next::Ended(End::Regular),
                Err(Error::IoError(error)) if is_of_the_file(&error) => return Next::Ended(End::Early),
                Err(Error::ResetRequired) => return Next::Ended(End::Chained),
                // The frame of the file itself is broken: nothing behind it can be found.
                Err(Error::DecodeError(_)) => return Next::Ended(End::Early),
                Err(other) => return Next::Failed(refusal(other)),
            }
        };
        match self.decoder.decode(&packet) {
            Ok(decoded) => {
                let spec = decoded.spec().clone();
                decoded.copy_to_vec_interleaved(interleaved);
                Next::Frames(spec)
            }
            Err(Error::DecodeError(reason)) => {
                Next::Damaged { frames: packet.dur.get(), reason: reason.to_owned() }
            }
            // A packet is in memory: it ends before its content does.
            Err(Error::IoError(_)) => {
                Next::Damaged { frames: packet.dur.get(), reason: "a packet ends early".to_owned() }
            }
            Err(Error::ResetRequired) => Next::Ended(End::Chained),
            Err(other) => Next::Failed(refusal(other)),
        }
    }
}

/// Whether an error says something of the file's content rather than of the disk: the end of a file or of
/// a packet's bits, which no system call reports.
fn is_of_the_file(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::IoError(error) if is_of_the_file(&error) => {
            Refusal::Malformed("ends in the middle of its header".to_owned())
        }
        Error::IoError(error) => disk(error),
        Error::Unsupported(what) => Refusal::Unsupported(format!("uses what is not read here ({what})")),
        Error::LimitError(what) => Refusal::Limit(format!("is beyond what is read here ({what})")),
        other => Refusal::Malformed(format!("is damaged ({other})")),
    }
}

/// The two files that are made.
struct Sink {
    limits: Limits,
    spec: AudioSpec,
    sample_rate_hz: u32,
    downmix: Downmix,
    samples: FloatWavWriter<BufWriter<File>>,
    peaks: PeaksWriter<BufWriter<File>>,
    mixed: Vec<f32>,
    /// Frames that were decoded, heard or not.
    decoded_frames: u64,
    /// What of them is to be heard.
    heard: Edit,
    packets: u64,
    bad_values: u64,
}

impl Sink {
    fn new(job: &Job, spec: &AudioSpec, is_mp4: bool) -> Result<Self, Refusal> {
        let (rate, channels) = (spec.rate(), spec.channels().count());
        if !SAMPLE_RATES_HZ.contains(&rate) {
            let (low, high) = (SAMPLE_RATES_HZ.start(), SAMPLE_RATES_HZ.end());
            return Err(Refusal::Limit(format!(
                "has a sample rate of {rate} Hz; {low} to {high} Hz are read"
            )));
        }
        if channels == 0 {
            return Err(Refusal::Malformed("has no channels".to_owned()));
        }
        if channels as u64 > job.limits.max_channels {
            let most = job.limits.max_channels;
            return Err(Refusal::Limit(format!("has {channels} channels; at most {most} are read")));
        }
        let heard = if is_mp4 { mp4_edit::find(File::open(&job.input).map_err(disk)?, rate) } else { None };
        let downmix = Downmix::new(&speakers(spec.channels()));
        let out_channels = downmix.channels() as u32;
        let create = |path: &Path| File::options().write(true).open(path).map(BufWriter::new).map_err(disk);
        Ok(Self {
            limits: job.limits,
            spec: spec.clone(),
            sample_rate_hz: rate,
            samples: FloatWavWriter::new(create(&job.samples)?, out_channels, rate).map_err(disk)?,
            peaks: PeaksWriter::new(create(&job.peaks)?, out_channels, rate),
            downmix,
            mixed: Vec::new(),
            decoded_frames: 0,
            heard: heard.unwrap_or(Edit { skip_frames: 0, keep_frames: u64::MAX }),
            packets: 0,
            bad_values: 0,
        })
    }

    fn write(&mut self, spec: &AudioSpec, interleaved: &mut [f32]) -> Result<(), Refusal> {
        if *spec != self.spec {
            let what = "changes its sample rate or channels in the middle";
            return Err(Refusal::Unsupported(what.to_owned()));
        }
        for value in interleaved.iter_mut().filter(|value| !value.is_finite()) {
            *value = 0.0;
            self.bad_values += 1;
        }
        self.mixed.clear();
        self.downmix.mix(interleaved, &mut self.mixed);
        self.packets += 1;
        self.push()
    }

    fn silence(&mut self, frames: u64) -> Result<(), Refusal> {
        let frames = if frames <= SILENCE_MAX_FRAMES { frames as usize } else { 0 };
        self.mixed.clear();
        self.mixed.resize(frames * self.downmix.channels(), 0.0);
        self.push()
    }

    fn push(&mut self) -> Result<(), Refusal> {
        let channels = self.downmix.channels() as u32;
        self.leave_unheard();
        let frames = self.samples.frames() + (self.mixed.len() / channels as usize) as u64;
        let max_secs = self.limits.max_secs;
        if frames > max_secs.saturating_mul(u64::from(self.sample_rate_hz)) {
            return Err(Refusal::Limit(format!("lasts longer than {max_secs} seconds")));
        }
        if float_wav::file_bytes(channels, frames) > self.limits.max_output_bytes {
            return Err(Refusal::NoRoom);
        }
        self.peaks.add(&self.mixed);
        self.samples.write(&self.mixed).map_err(disk)
    }

    /// Takes out of `mixed` what is not to be heard.
    fn leave_unheard(&mut self) {
        let channels = self.downmix.channels() as u64;
        let start = self.decoded_frames;
        let count = self.mixed.len() as u64 / channels;
        self.decoded_frames += count;
        let Edit { skip_frames, keep_frames } = self.heard;
        let within = |frame: u64| (frame.saturating_sub(start)).min(count) * channels;
        let (first, end) = (within(skip_frames), within(skip_frames.saturating_add(keep_frames)));
        self.mixed.truncate(end as usize);
        self.mixed.drain(..first.min(end) as usize);
    }

    fn finish(self, source: &Source, warnings: Vec<String>) -> Result<Report, Refusal> {
        let frames = self.samples.frames();
        self.samples.finish().map_err(disk)?;
        self.peaks.finish(frames).map_err(disk)?;
        Ok(Report {
            container: source.format.format_info().short_name.to_owned(),
            codec: source.decoder.codec_info().short_name.to_owned(),
            sample_rate_hz: self.sample_rate_hz,
            source_channels: self.spec.channels().count() as u32,
            channels: self.downmix.channels() as u32,
            frames,
            warnings,
        })
    }
}

/// The input, which says how far it was read.
struct CountedFile {
    file: File,
    size_bytes: u64,
    position: Arc<AtomicU64>,
}

impl CountedFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size_bytes = file.metadata()?.len();
        Ok(Self { file, size_bytes, position: Arc::default() })
    }
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.position.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = self.file.seek(to)?;
        self.position.store(position, Ordering::Relaxed);
        Ok(position)
    }
}

impl MediaSource for CountedFile {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.size_bytes)
    }
}
