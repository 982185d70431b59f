//! Compares the engine's sound with FluidSynth's: every General MIDI program and drum kit, note by
//! note.

mod align;
mod bands;
mod conditions;
mod envelope;
mod exceptions;
mod fluidsynth;
mod notes;
mod ours;
mod pitch;
mod table;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dsp_core::soundfont::Bank;

use self::bands::Bands;
use self::conditions::{Conditions, Trial};
use self::envelope::EnvelopeDifference;
use self::exceptions::{Exceptions, Measure};
use self::notes::{HELD_MS, Note, ON_MS, RELEASE_MS, SLOT_MS, frames};
use crate::{song, stats};

/// Number of notes per render, which lasts about four minutes.
const BATCH_NOTES: usize = 48;
/// Largest deviation of the median level from the known gain, in decibels.
const LEVEL_LIMIT_DB: f64 = 0.5;

/// Compares the engine's sound with FluidSynth's.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// SoundFont files.
    #[arg(required = true)]
    banks: Vec<PathBuf>,
    /// Velocity of the notes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=127))]
    velocity: u8,
    /// The file of known exceptions.
    #[arg(long)]
    exceptions: PathBuf,
    /// Compare only these programs and kits.
    #[arg(long, value_delimiter = ',')]
    programs: Option<Vec<u8>>,
}

/// A stereo recording.
#[derive(Debug, Default)]
struct Recording {
    left: Vec<f32>,
    right: Vec<f32>,
}

/// Part of a stereo recording.
#[derive(Debug, Clone, Copy)]
struct StereoSlice<'a> {
    left: &'a [f32],
    right: &'a [f32],
}

impl Recording {
    /// Returns `length` frames from `start` on, or fewer at the end of the recording.
    fn slice(&self, start: usize, length: usize) -> StereoSlice<'_> {
        let end = (start + length).min(self.left.len());
        let start = start.min(end);
        StereoSlice { left: &self.left[start..end], right: &self.right[start..end] }
    }
}

/// Difference of our note from FluidSynth's.
#[derive(Debug, Clone, Copy)]
struct Difference {
    note: Note,
    /// Median difference of the third-octave bands in decibels.
    bands_db: f64,
    /// Difference of the level from the known gain, in decibels.
    level_db: f64,
    cents: Option<f64>,
    envelope: EnvelopeDifference,
}

impl Difference {
    fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Bands => Some(self.bands_db),
            Measure::Pitch => self.cents,
            Measure::Attack => self.envelope.attack_percent,
            Measure::Decay => self.envelope.decay_percent,
            Measure::Release => self.envelope.release_percent,
        }
    }
}

/// Result of comparing a note.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Compared(Difference),
    /// The note is silent in both renders.
    BothSilent,
    /// The note is silent in one of the renders.
    OneSilent(Note),
}

/// Compares the notes of a bank.
struct Comparison<'a> {
    path: &'a Path,
    bank: Bank,
    folder: tempfile::TempDir,
    bands: Bands,
    /// Differences of the notes that were already played again.
    trials: RefCell<BTreeMap<Trial, Option<Difference>>>,
}

impl Comparison<'_> {
    fn outcomes(&self, notes: &[Note], conditions: &Conditions) -> anyhow::Result<Vec<Outcome>> {
        let [our_controllers, their_controllers] = conditions.controllers();
        let our_sound = ours::render(&self.bank, notes, conditions.velocity, &our_controllers)?;
        let folder = self.folder.path();
        let their_sound =
            fluidsynth::render(self.path, notes, conditions.velocity, &their_controllers, folder)?;
        let outcome = |(index, &note): (usize, &Note)| self.outcome(note, index, &our_sound, &their_sound);
        notes.iter().enumerate().map(outcome).collect()
    }

    fn outcome(
        &self,
        note: Note,
        index: usize,
        our_sound: &Recording,
        their_sound: &Recording,
    ) -> anyhow::Result<Outcome> {
        let slot = index * frames(SLOT_MS);
        let (slot_frames, lead) = (frames(SLOT_MS), frames(ON_MS));
        let lag =
            align::lag(our_sound.slice(slot, slot_frames), their_sound.slice(slot, slot_frames), slot, lead);
        let start = slot + lead;
        let length = frames(HELD_MS + RELEASE_MS);
        let our_sound = our_sound.slice(start, length);
        let their_sound = their_sound.slice(start.saturating_add_signed(lag), length);
        if their_sound.left.len() < frames(HELD_MS) {
            bail!("fluidsynth's file ends before {note}");
        }
        let gain_db = ours::LEVEL_RELATIVE_TO_FLUIDSYNTH_DB - 20.0 * fluidsynth::GAIN.log10();
        let is_audible =
            |slice: StereoSlice<'_>| slice.left.iter().chain(slice.right).any(|value| value.abs() > 1e-4);
        let Some(bands) = self.bands.compare(our_sound, their_sound, gain_db)? else {
            let is_one_audible = is_audible(our_sound) || is_audible(their_sound);
            return Ok(if is_one_audible { Outcome::OneSilent(note) } else { Outcome::BothSilent });
        };
        Ok(Outcome::Compared(Difference {
            note,
            bands_db: bands.median_db,
            level_db: bands.level_db,
            cents: pitch::difference_cents(our_sound, their_sound)?,
            envelope: envelope::compare(our_sound, their_sound, note.key),
        }))
    }

    /// Plays a note alone, unless it was already played in these conditions, and returns a measure.
    fn remeasure(&self, note: Note, measure: Measure, conditions: Conditions) -> anyhow::Result<Option<f64>> {
        let trial = (conditions, note);
        if let Some(known_result) = self.trials.borrow().get(&trial) {
            return Ok(known_result.and_then(|difference| difference.value(measure)));
        }
        let difference = match self.outcomes(&[note], &trial.0)?.first() {
            Some(Outcome::Compared(difference)) => Some(*difference),
            _ => None,
        };
        self.trials.borrow_mut().insert(trial, difference);
        Ok(difference.and_then(|difference| difference.value(measure)))
    }
}

/// Compares all notes of a bank and prints its table. Returns the number of unexplained
/// differences.
fn compare_bank(path: &Path, args: &Args, exceptions: &Exceptions) -> anyhow::Result<usize> {
    let name = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .with_context(|| format!("the file name of the bank {} is not UTF-8", path.display()))?;
    let comparison = Comparison {
        path,
        bank: song::open_bank(path)?,
        folder: tempfile::tempdir()?,
        bands: Bands::new(),
        trials: RefCell::default(),
    };
    let mut notes = notes::compared_notes(comparison.bank.summary());
    if let Some(programs) = &args.programs {
        notes.retain(|note| programs.contains(&note.program));
    }
    let mut outcomes = Vec::with_capacity(notes.len());
    for batch in notes.chunks(BATCH_NOTES) {
        eprint!("\r{name}: {} of {} notes ", outcomes.len(), notes.len());
        outcomes.extend(comparison.outcomes(batch, &Conditions::without_offsets(args.velocity))?);
    }
    eprintln!("\r{name}: {} notes          ", notes.len());

    let compared: Vec<Difference> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Compared(difference) => Some(*difference),
            _ => None,
        })
        .collect();
    let (mut findings, mut block_dependent_count) = (Vec::new(), 0);
    for difference in &compared {
        for measure in Measure::ALL {
            let beyond = |value: &f64| value.abs() > measure.limit();
            let Some(value) = difference.value(measure).filter(beyond) else { continue };
            // When the note is played alone, its position in FluidSynth's blocks of 64 frames is
            // different.
            let single_difference =
                comparison.remeasure(difference.note, measure, Conditions::without_offsets(args.velocity))?;
            if !single_difference.as_ref().is_some_and(beyond) {
                block_dependent_count += 1;
                continue;
            }
            let deviation = exceptions::Deviation { bank: name, note: difference.note, measure, value };
            let remeasure = |conditions| comparison.remeasure(difference.note, measure, conditions);
            let exception = exceptions.explain(deviation, args.velocity, remeasure)?;
            findings.push(table::Finding { note: difference.note, measure, value, exception });
        }
    }
    let one_silent: Vec<Note> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::OneSilent(note) => Some(*note),
            _ => None,
        })
        .collect();
    let both_silent = outcomes.len() - compared.len() - one_silent.len();
    table::print(name, args.velocity, comparison.bank.summary(), &compared, &findings);
    println!(
        "{both_silent} notes are silent in both renders; {} in only one: {}",
        one_silent.len(),
        table::list(&one_silent)
    );
    println!(
        "{block_dependent_count} differences beyond a limit are omitted. They disappeared when the note was played alone, at \
         another position in FluidSynth's blocks of 64 frames."
    );
    let level_db = stats::median(compared.iter().map(|difference| difference.level_db)).unwrap_or(0.0);
    let is_level_beyond_limit = level_db.abs() > LEVEL_LIMIT_DB;
    println!(
        "Difference from the known gain: {level_db:+.2} dB (median of all notes), goal: at most {LEVEL_LIMIT_DB} dB."
    );
    println!();
    let unexplained = findings.iter().filter(|finding| finding.exception.is_none()).count();
    Ok(unexplained + one_silent.len() + usize::from(is_level_beyond_limit))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let exceptions = Exceptions::read(&args.exceptions)?;
    let mut unexplained = 0;
    for bank in &args.banks {
        unexplained += compare_bank(bank, args, &exceptions)?;
    }
    if args.programs.is_none() {
        let names: Vec<&str> = args.banks.iter().filter_map(|bank| bank.file_stem()?.to_str()).collect();
        for exception in exceptions.unused(&names) {
            unexplained += 1;
            println!(
                "This exception explains no difference and must be removed: {} ({})",
                exception.clause, exception.reason
            );
        }
    }
    if unexplained > 0 {
        bail!("{unexplained} differences without an exception, or exceptions without a difference");
    }
    println!("Every difference beyond the limits is explained.");
    Ok(())
}
