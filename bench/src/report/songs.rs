//! Times rendering songs to WAV files: with the engine alone, `songfoundry render` (the product),
//! FluidSynth and rustysynth.

use std::path::Path;

use super::{Args, FLUIDR3, Goal, TIMGM6MB, print_figure, song_path};
use crate::process::{measure, path_text};
use crate::song::{POLYPHONY, RATE_HZ, copy_with_all_sound_off};
use crate::stats::median;

/// The songs rendered with the large bank.
pub(super) const SONGS: [&str; 10] = [
    "city_blues_redfarn",
    "busy_schedule",
    "flying_scotsman",
    "boogi_marabi_redfarn",
    "chemistry_lab",
    "modern_motion",
    "mosey_along_redfarn",
    "relax_song",
    "the_hobo_redfarn",
    "tttheme2",
];
/// Number of songs that are also rendered with the small bank.
const SMALL_BANK_SONGS: usize = 3;

/// Medians of the processor time in seconds.
struct Times {
    ours_secs: f64,
    product: f64,
    fluidsynth: f64,
    rustysynth: f64,
}

fn times(args: &Args, song: &Path, bank: &str, folder: &Path) -> anyhow::Result<Times> {
    let copy = folder.join("song.mid");
    copy_with_all_sound_off(song, &copy)?;
    let (song, rate) = (path_text(&copy)?, RATE_HZ.to_string());
    let wav = folder.join("song.wav");
    let wav = path_text(&wav)?;
    let polyphony = format!("synth.polyphony={POLYPHONY}");
    let program = std::env::current_exe()?;
    let our_arguments = [path_text(&program)?, "render", song, bank, wav];
    let product = [
        path_text(&args.songfoundry)?,
        "render",
        song,
        "--soundfont",
        bank,
        "--sample-rate",
        &rate,
        "-o",
        wav,
    ];
    let fluidsynth = [
        "fluidsynth",
        "-n",
        "-i",
        "-q",
        "-r",
        &rate,
        "-o",
        &polyphony,
        "-o",
        "synth.cpu-cores=1",
        "-R",
        "1",
        "-C",
        "1",
        "-O",
        "s16",
        "-T",
        "wav",
        "-F",
        wav,
        bank,
        song,
    ];
    let rustysynth = [path_text(&program)?, "rustysynth", song, bank, wav];
    // The programs run in turn, so that other load of the machine affects all of them equally.
    let mut all_times = [const { Vec::new() }; 4];
    for _ in 0..args.runs {
        for (times, command) in
            all_times.iter_mut().zip([&our_arguments[..], &product[..], &fluidsynth[..], &rustysynth[..]])
        {
            times.push(measure(command)?.cpu_secs);
        }
    }
    let [our_arguments, product, fluidsynth, rustysynth] =
        all_times.map(|times| median(times).unwrap_or(f64::NAN));
    Ok(Times { ours_secs: our_arguments, product, fluidsynth, rustysynth })
}

fn print_table(
    args: &Args,
    bank: &str,
    songs: &[&str],
    folder: &Path,
    goal: Option<Goal>,
) -> anyhow::Result<()> {
    let name = Path::new(bank).file_stem().and_then(|stem| stem.to_str()).unwrap_or(bank);
    println!();
    println!(
        "{:<22} {:>9} {:>9} {:>11} {:>11} {:>14} {:>14}",
        name, "engine", "product", "fluidsynth", "rustysynth", "to fluidsynth", "to rustysynth"
    );
    let (mut to_fluidsynth, mut to_rustysynth, mut product_to) = (Vec::new(), Vec::new(), Vec::new());
    for song in songs {
        eprint!("\r{name}: {song}                    ");
        let Times { ours_secs: our_arguments, product, fluidsynth, rustysynth } =
            times(args, &song_path(song), bank, folder)?;
        eprint!("\r{:60}\r", "");
        to_fluidsynth.push(fluidsynth / our_arguments);
        to_rustysynth.push(rustysynth / our_arguments);
        product_to.push(fluidsynth / product);
        println!(
            "{song:<22} {our_arguments:>7.2} s {product:>7.2} s {fluidsynth:>9.2} s {rustysynth:>9.2} s {:>14.2} {:>14.2}",
            fluidsynth / our_arguments,
            rustysynth / our_arguments
        );
    }
    let median = |values| median(values).unwrap_or(f64::NAN);
    print_figure(
        &format!("{name}: speed to fluidsynth, median of {} songs", songs.len()),
        median(to_fluidsynth),
        "x",
        goal,
    );
    print_figure(
        &format!("{name}: speed of `songfoundry render`, receipt included, to fluidsynth"),
        median(product_to),
        "x",
        goal,
    );
    print_figure(
        &format!("{name}: speed to rustysynth, median of {} songs", songs.len()),
        median(to_rustysynth),
        "x",
        None,
    );
    Ok(())
}

/// Prints a table for each bank.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    println!(
        "From a MIDI file to a 16-bit WAV file: processor time of the process, loading the bank included."
    );
    println!("The engine runs on one thread; the product also measures loudness and true peak, and hashes.");
    print_table(args, FLUIDR3, &SONGS, folder, Some(Goal::AtLeast(3.0)))?;
    print_table(args, TIMGM6MB, &SONGS[..SMALL_BANK_SONGS], folder, None)
}
