//! How close the engine sounds to FluidSynth: every General MIDI program and drum kit, note by
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

/// Notes that are rendered at a time: some four minutes of sound.
const BATCH_NOTES: usize = 48;
/// How far the level of all notes together may be from what it is by construction, in decibels.
const LEVEL_LIMIT_DB: f64 = 0.5;

/// How close the engine sounds to FluidSynth.
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
struct Sound {
    left: Vec<f32>,
    right: Vec<f32>,
}

/// Part of a recording.
#[derive(Debug, Clone, Copy)]
struct Piece<'a> {
    left: &'a [f32],
    right: &'a [f32],
}

impl Sound {
    /// A part; what lies beyond the end is left out.
    fn piece(&self, start: usize, length: usize) -> Piece<'_> {
        let end = (start + length).min(self.left.len());
        let start = start.min(end);
        Piece { left: &self.left[start..end], right: &self.right[start..end] }
    }
}

/// How a note of ours differs from FluidSynth's.
#[derive(Debug, Clone, Copy)]
struct Difference {
    note: Note,
    /// Median over the third-octave bands, decibels.
    bands_db: f64,
    /// The whole note's level beyond what is expected, decibels.
    level_db: f64,
    cents: Option<f64>,
    envelope: EnvelopeDifference,
}

impl Difference {
    fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Bands => Some(self.bands_db),
            Measure::Pitch => self.cents,
            Measure::Attack => self.envelope.attack,
            Measure::Decay => self.envelope.decay,
            Measure::Release => self.envelope.release,
        }
    }
}

/// What a note came to.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Compared(Difference),
    /// Neither makes a sound.
    BothSilent,
    /// One of the two makes none.
    OneSilent(Note),
}

/// A bank in both synthesizers.
struct Comparison<'a> {
    path: &'a Path,
    bank: Bank,
    folder: tempfile::TempDir,
    bands: Bands,
    /// Notes that were played again in other conditions.
    again: RefCell<BTreeMap<Trial, Option<Difference>>>,
}

impl Comparison<'_> {
    fn outcomes(&self, notes: &[Note], with: &Conditions) -> anyhow::Result<Vec<Outcome>> {
        let [our_controllers, their_controllers] = with.controllers();
        let ours = ours::render(&self.bank, notes, with.velocity, &our_controllers)?;
        let folder = self.folder.path();
        let theirs = fluidsynth::render(self.path, notes, with.velocity, &their_controllers, folder)?;
        let outcome = |(place, &note): (usize, &Note)| self.outcome(note, place, &ours, &theirs);
        notes.iter().enumerate().map(outcome).collect()
    }

    fn outcome(&self, note: Note, place: usize, ours: &Sound, theirs: &Sound) -> anyhow::Result<Outcome> {
        let slot = place * frames(SLOT_MS);
        let (whole, lead) = (frames(SLOT_MS), frames(ON_MS));
        let lag = align::lag(ours.piece(slot, whole), theirs.piece(slot, whole), slot, lead);
        let start = slot + lead;
        let length = frames(HELD_MS + RELEASE_MS);
        let ours = ours.piece(start, length);
        let theirs = theirs.piece(start.saturating_add_signed(lag), length);
        if theirs.left.len() < frames(HELD_MS) {
            bail!("fluidsynth's file ends before {note}");
        }
        let gain_db = ours::OVER_FLUIDSYNTH_DB - 20.0 * fluidsynth::GAIN.log10();
        let loud = |piece: Piece<'_>| piece.left.iter().chain(piece.right).any(|value| value.abs() > 1e-4);
        let Some(bands) = self.bands.compare(ours, theirs, gain_db)? else {
            let one = loud(ours) || loud(theirs);
            return Ok(if one { Outcome::OneSilent(note) } else { Outcome::BothSilent });
        };
        Ok(Outcome::Compared(Difference {
            note,
            bands_db: bands.median_db,
            level_db: bands.level_db,
            cents: pitch::difference_cents(ours, theirs)?,
            envelope: envelope::compare(ours, theirs, note.key),
        }))
    }

    /// A measure of a note in other conditions.
    fn again(&self, note: Note, measure: Measure, with: Conditions) -> anyhow::Result<Option<f64>> {
        let trial = (with, note);
        if let Some(known) = self.again.borrow().get(&trial) {
            return Ok(known.and_then(|difference| difference.value(measure)));
        }
        let difference = match self.outcomes(&[note], &trial.0)?.first() {
            Some(Outcome::Compared(difference)) => Some(*difference),
            _ => None,
        };
        self.again.borrow_mut().insert(trial, difference);
        Ok(difference.and_then(|difference| difference.value(measure)))
    }
}

/// Compares all notes of a bank and prints its table; the number of differences without a reason.
fn compare_bank(path: &Path, args: &Args, exceptions: &Exceptions) -> anyhow::Result<usize> {
    let name = path.file_stem().and_then(|stem| stem.to_str()).context("a bank's file name")?;
    let comparison = Comparison {
        path,
        bank: song::open_bank(path)?,
        folder: tempfile::tempdir()?,
        bands: Bands::new(),
        again: RefCell::default(),
    };
    let mut notes = notes::all(comparison.bank.summary());
    if let Some(programs) = &args.programs {
        notes.retain(|note| programs.contains(&note.program));
    }
    let mut outcomes = Vec::with_capacity(notes.len());
    for batch in notes.chunks(BATCH_NOTES) {
        eprint!("\r{name}: {} of {} notes ", outcomes.len(), notes.len());
        outcomes.extend(comparison.outcomes(batch, &Conditions::plain(args.velocity))?);
    }
    eprintln!("\r{name}: {} notes          ", notes.len());

    let compared: Vec<Difference> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Compared(difference) => Some(*difference),
            _ => None,
        })
        .collect();
    let (mut findings, mut unsteady) = (Vec::new(), 0);
    for difference in &compared {
        for measure in Measure::ALL {
            let beyond = |value: &f64| value.abs() > measure.limit();
            let Some(value) = difference.value(measure).filter(beyond) else { continue };
            // Alone, it lies elsewhere on FluidSynth's grid of 64 frames.
            let alone = comparison.again(difference.note, measure, Conditions::plain(args.velocity))?;
            if !alone.as_ref().is_some_and(beyond) {
                unsteady += 1;
                continue;
            }
            let finding = exceptions::Found { bank: name, note: difference.note, measure, value };
            let again = |with| comparison.again(difference.note, measure, with);
            let exception = exceptions.explain(finding, args.velocity, again)?;
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
        "{both_silent} notes are silent in both; {} in one of them only: {}",
        one_silent.len(),
        table::list(&one_silent)
    );
    println!(
        "{unsteady} differences beyond a limit are left out: they were gone when the note was played alone, elsewhere on \
         FluidSynth's grid of 64 frames."
    );
    let level_db = stats::median(compared.iter().map(|difference| difference.level_db)).unwrap_or(0.0);
    let bad_level = level_db.abs() > LEVEL_LIMIT_DB;
    println!(
        "Level of all notes beyond the known gain: {level_db:+.2} dB (median), goal within {LEVEL_LIMIT_DB}."
    );
    println!();
    let unexplained = findings.iter().filter(|finding| finding.exception.is_none()).count();
    Ok(unexplained + one_silent.len() + usize::from(bad_level))
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
            println!("An exception explains nothing any more: {} ({})", exception.clause, exception.reason);
        }
    }
    if unexplained > 0 {
        bail!("{unexplained} differences without a reason");
    }
    println!("Every difference beyond the limits has its reason.");
    Ok(())
}
