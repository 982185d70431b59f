//! Writes the two outputs of a decoder: samples and peaks.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use dsp_core::downmix::Downmix;
use dsp_core::wav::FloatWavWriter;
use symphonia::core::audio::AudioSpec;

use super::mp4_edit::{self, Edit};
use super::refusal::disk_error;
use super::source::Source;
use super::speakers::speakers;
use super::{Job, Limits, Refusal, Report, SAMPLE_RATES_HZ};
use crate::audio::float_wav;
use crate::audio::peaks_file::PeaksWriter;

/// Number of silent frames that are written at a time.
const SILENCE_FRAMES: u64 = 65_536;

/// Writes the two outputs.
pub(super) struct Sink {
    limits: Limits,
    spec: AudioSpec,
    pub(super) sample_rate_hz: u32,
    downmix: Downmix,
    samples: FloatWavWriter<BufWriter<File>>,
    peaks: PeaksWriter<BufWriter<File>>,
    mixed: Vec<f32>,
    /// Number of frames that were decoded, before trimming to `edit`.
    pub(super) decoded_frames: u64,
    /// The part of the decoded frames that is kept.
    edit: Edit,
    pub(super) packets: u64,
    pub(super) invalid_samples: u64,
}

impl Sink {
    pub(super) fn new(job: &Job, spec: &AudioSpec, is_mp4: bool) -> Result<Self, Refusal> {
        let (rate, channels) = (spec.rate(), spec.channels().count());
        if !SAMPLE_RATES_HZ.contains(&rate) {
            let (low, high) = (SAMPLE_RATES_HZ.start(), SAMPLE_RATES_HZ.end());
            return Err(Refusal::Limit(format!(
                "has a sample rate of {rate} Hz; {low} to {high} Hz are supported"
            )));
        }
        if channels == 0 {
            return Err(Refusal::Malformed("has no channels".to_owned()));
        }
        if channels as u64 > job.limits.max_channels {
            let max = job.limits.max_channels;
            return Err(Refusal::Limit(format!("has {channels} channels; at most {max} are supported")));
        }
        let edit =
            if is_mp4 { mp4_edit::find(File::open(&job.input).map_err(disk_error)?, rate) } else { None };
        let downmix = Downmix::new(&speakers(spec.channels()));
        let out_channels = downmix.channel_count() as u32;
        let create =
            |path: &Path| File::options().write(true).open(path).map(BufWriter::new).map_err(disk_error);
        Ok(Self {
            limits: job.limits,
            spec: spec.clone(),
            sample_rate_hz: rate,
            samples: FloatWavWriter::new(create(&job.samples)?, out_channels, rate).map_err(disk_error)?,
            peaks: PeaksWriter::new(create(&job.peaks)?, out_channels, rate),
            downmix,
            mixed: Vec::new(),
            decoded_frames: 0,
            edit: edit.unwrap_or(Edit { skip_frames: 0, keep_frames: u64::MAX }),
            packets: 0,
            invalid_samples: 0,
        })
    }

    /// Appends decoded frames, mixed to one or two channels.
    pub(super) fn write(&mut self, spec: &AudioSpec, interleaved: &mut [f32]) -> Result<(), Refusal> {
        if *spec != self.spec {
            let [old, new] = [&self.spec, spec]
                .map(|spec| format!("{} Hz with {} channels", spec.rate(), spec.channels().count()));
            let reason = format!("changes its sample rate or channels in the middle, from {old} to {new}");
            return Err(Refusal::Unsupported(reason));
        }
        for value in interleaved.iter_mut().filter(|value| !value.is_finite()) {
            *value = 0.0;
            self.invalid_samples += 1;
        }
        self.mixed.clear();
        self.downmix.mix(interleaved, &mut self.mixed);
        self.packets += 1;
        self.push()
    }

    /// Appends this number of silent frames.
    pub(super) fn write_silence(&mut self, mut frames: u64) -> Result<(), Refusal> {
        self.check_limits(frames)?;
        while frames > 0 {
            let part = frames.min(SILENCE_FRAMES);
            self.mixed.clear();
            self.mixed.resize(part as usize * self.downmix.channel_count(), 0.0);
            self.push()?;
            frames -= part;
        }
        Ok(())
    }

    /// Returns the number of frames that were written.
    pub(super) fn frames(&self) -> u64 {
        self.samples.frames()
    }

    fn push(&mut self) -> Result<(), Refusal> {
        self.trim_to_edit();
        self.check_limits((self.mixed.len() / self.downmix.channel_count()) as u64)?;
        self.peaks.add(&self.mixed);
        self.samples.write(&self.mixed).map_err(disk_error)
    }

    /// Returns a refusal if `more_frames` would exceed a limit.
    fn check_limits(&self, more_frames: u64) -> Result<(), Refusal> {
        let frames = self.samples.frames().saturating_add(more_frames);
        let max_secs = self.limits.max_secs;
        if frames > max_secs.saturating_mul(u64::from(self.sample_rate_hz)) {
            return Err(Refusal::Limit(format!("lasts longer than {max_secs} seconds")));
        }
        if float_wav::file_bytes(self.downmix.channel_count() as u32, frames) > self.limits.max_output_bytes {
            return Err(Refusal::NoRoom);
        }
        Ok(())
    }

    /// Removes the frames outside of the edit from `mixed`.
    fn trim_to_edit(&mut self) {
        let channels = self.downmix.channel_count() as u64;
        let start = self.decoded_frames;
        let count = self.mixed.len() as u64 / channels;
        self.decoded_frames += count;
        let Edit { skip_frames, keep_frames } = self.edit;
        let offset_in_mixed = |frame: u64| (frame.saturating_sub(start)).min(count) * channels;
        let (first, end) =
            (offset_in_mixed(skip_frames), offset_in_mixed(skip_frames.saturating_add(keep_frames)));
        self.mixed.truncate(end as usize);
        self.mixed.drain(..first.min(end) as usize);
    }

    /// Completes both files.
    pub(super) fn finish(self, source: &Source, warnings: Vec<String>) -> Result<Report, Refusal> {
        let frames = self.samples.frames();
        self.samples.finish().map_err(disk_error)?;
        self.peaks.finish(frames).map_err(disk_error)?;
        Ok(Report {
            container: source.container().to_owned(),
            codec: source.codec().to_owned(),
            sample_rate_hz: self.sample_rate_hz,
            source_channels: self.spec.channels().count() as u32,
            channels: self.downmix.channel_count() as u32,
            frames,
            warnings,
        })
    }
}
