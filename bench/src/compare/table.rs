//! Prints the table of a bank.

use dsp_core::soundfont::BankSummary;

use super::Difference;
use super::exceptions::{Exception, Measure};
use super::notes::Note;
use crate::stats::median;

/// A difference beyond its limit.
pub(super) struct Finding<'a> {
    pub(super) note: Note,
    pub(super) measure: Measure,
    pub(super) value: f64,
    /// The exception that explains the difference.
    pub(super) exception: Option<&'a Exception>,
}

/// Returns the notes, separated by commas.
pub(super) fn list(notes: &[Note]) -> String {
    if notes.is_empty() {
        return "none".to_owned();
    }
    notes.iter().map(Note::to_string).collect::<Vec<_>>().join(", ")
}

/// Prints a line for each program and kit, the medians, and the findings.
pub(super) fn print(
    name: &str,
    velocity: u8,
    summary: &BankSummary,
    differences: &[Difference],
    findings: &[Finding<'_>],
) {
    println!(
        "{name} is compared with FluidSynth at velocity {velocity}, with notes of 2 s. A line has the median band"
    );
    println!(
        "difference and level of a preset, and its largest differences of pitch and envelope times. A ! marks a"
    );
    println!(
        "difference beyond its limit. A time differs if it and the level at the threshold differ by more than 5 %"
    );
    println!(
        "of a straight envelope, and the time by more than 1.5 ms, as FluidSynth updates envelopes once in 64 frames."
    );
    println!();
    println!(
        "{:<7} {:<22} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "preset", "name", "notes", "bands dB", "level dB", "cents", "attack %", "decay %", "rel. %"
    );
    for preset in &summary.presets {
        let of_preset = |note: &Note| note.bank == preset.bank && u16::from(note.program) == preset.program;
        let notes: Vec<&Difference> =
            differences.iter().filter(|difference| of_preset(&difference.note)).collect();
        if notes.is_empty() {
            continue;
        }
        let mark = |measures: &[Measure]| {
            let beyond =
                |finding: &Finding<'_>| of_preset(&finding.note) && measures.contains(&finding.measure);
            if findings.iter().any(beyond) { '!' } else { ' ' }
        };
        let largest_difference = |measure: Measure| {
            let values = notes.iter().filter_map(|difference| difference.value(measure));
            match values.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
                Some(value) => format!("{value:>7.1}{}", mark(&[measure])),
                None => format!("{:>7} ", "-"),
            }
        };
        let median_of = |value: fn(&Difference) -> f64| {
            median(notes.iter().map(|difference| value(difference))).unwrap_or(0.0)
        };
        println!(
            "{:<7} {:<22.22} {:>5} {:>7.2}{} {:>8.2} {} {} {} {}",
            format!("{}:{}", preset.bank, preset.program),
            preset.name,
            notes.len(),
            median_of(|difference| difference.bands_db),
            mark(&[Measure::Bands]),
            median_of(|difference| difference.level_db),
            largest_difference(Measure::Pitch),
            largest_difference(Measure::Attack),
            largest_difference(Measure::Decay),
            largest_difference(Measure::Release),
        );
    }
    println!();
    print_medians(differences, findings);
    print_findings(findings);
}

fn print_medians(differences: &[Difference], findings: &[Finding<'_>]) {
    println!(
        "{:<8} {:>7} {:>8} {:>10} {:>8} {:>8} {:>12}",
        "", "notes", "median", "95th pct.", "limit", "beyond", "unexplained"
    );
    for measure in Measure::ALL {
        let mut values: Vec<f64> =
            differences.iter().filter_map(|difference| difference.value(measure)).map(f64::abs).collect();
        values.sort_by(f64::total_cmp);
        let high = values.get(values.len().saturating_sub(1) * 95 / 100).copied().unwrap_or(0.0);
        let of_measure = || findings.iter().filter(|finding| finding.measure == measure);
        println!(
            "{:<8} {:>7} {:>8.2} {:>10.2} {:>8} {:>8} {:>12}",
            measure.name(),
            values.len(),
            median(values.iter().copied()).unwrap_or(0.0),
            high,
            format!("{} {}", measure.limit(), measure.unit()),
            of_measure().count(),
            of_measure().filter(|finding| finding.exception.is_none()).count(),
        );
    }
    println!();
}

fn print_findings(findings: &[Finding<'_>]) {
    let mut exceptions: Vec<&Exception> = Vec::new();
    for finding in findings {
        let Finding { note, measure, value, exception } = finding;
        let reason = match exception {
            Some(exception) => {
                if !exceptions.iter().any(|known_exception| core::ptr::eq(*known_exception, *exception)) {
                    exceptions.push(exception);
                }
                format!("section {}", exception.clause)
            }
            None => "NOT EXPLAINED".to_owned(),
        };
        println!(
            "{:<18} {:<8} {value:>8.2} {:<6} {reason}",
            note.to_string(),
            measure.name(),
            measure.unit()
        );
    }
    if !exceptions.is_empty() {
        println!();
        println!("Each reason is proved by playing the note again without the cause of the difference:");
    }
    for exception in exceptions {
        println!("- section {}: {}", exception.clause, exception.reason);
    }
    if !findings.is_empty() {
        println!();
    }
}
