//! Fuzz targets: one for each kind of file that clients send. Each is a module with
//!
//! - `check`, which panics if an input shows a defect, or takes more memory than its limit;
//! - `mutate`, which mutates an input such that data behind checksums and sizes is reached;
//! - `seeds`, which generates the inputs in the folder `seeds`;
//! - `installed_seeds`, which reads inputs from files of the system that must not be committed.
//!
//! [`target!`] is the body of the programs in `bin`. `scripts/fuzz` builds and runs them.

pub mod audio;
pub mod banks;
#[path = "../../../dsp-core/tests/conformance/vorbis/bits.rs"]
mod bits;
pub mod bundle;
mod choices;
#[path = "../../../dsp-core/tests/banks/counting.rs"]
mod counting;
#[path = "../../../dsp-core/tests/conformance/vorbis/encoder.rs"]
mod encoder;
#[path = "../../../dsp-core/tests/maker/mod.rs"]
mod maker;
pub mod midi;
mod mutate;
pub mod project;
pub mod sf3;
#[path = "../../../dsp-core/tests/maker/streams.rs"]
mod streams;

use std::path::Path;
use std::{fs, io, panic, process};

pub use libfuzzer_sys;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// A seed and its name.
pub type Seed = (String, Vec<u8>);

/// The program of one target; its argument is the module.
#[macro_export]
macro_rules! target {
    ($target:ident) => {
        use libfuzzer_sys::{fuzz_mutator, fuzz_target};
        use songfoundry_fuzz::$target;

        fuzz_target!(
            init: songfoundry_fuzz::start($target::seeds, $target::installed_seeds),
            |input: &[u8]| $target::check(input)
        );

        fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            songfoundry_fuzz::mutated(data, size, max_size, seed, $target::mutate)
        });
    };
}

/// Decoders whose panics are an ordinary refusal: `decoder/child.rs` of the service and
/// `vorbis/decoded.rs` of the engine catch them. Their sources have these parts in their paths.
const CAUGHT: [&str; 2] = ["/symphonia-", "/lewton-"];

/// Lets panics of decoders unwind, so that they can be caught; every other panic aborts the
/// program, as libFuzzer requires.
fn let_decoders_panic() {
    let ending = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        let is_caught = |file: &str| CAUGHT.iter().any(|part| file.contains(part));
        if !about.location().is_some_and(|location| is_caught(location.file())) {
            ending(about);
        }
    }));
}

/// Prepares a target and handles two environment variables. `FUZZ_MAKE_SEEDS` names a folder to
/// which the committed seeds are written; the program then exits. `FUZZ_INSTALLED_SEEDS` names a
/// folder for seeds made of files of the system.
pub fn start(seeds: fn() -> Vec<Seed>, installed: fn() -> Vec<Seed>) {
    let_decoders_panic();
    if let Some(folder) = std::env::var_os("FUZZ_MAKE_SEEDS") {
        write(folder.as_ref(), seeds()).expect("a folder for the seeds");
        process::exit(0);
    }
    if let Some(folder) = std::env::var_os("FUZZ_INSTALLED_SEEDS") {
        write(folder.as_ref(), installed()).expect("a folder for the seeds");
    }
}

fn write(folder: &Path, seeds: Vec<Seed>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    seeds.into_iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
}

/// Mutates an input; `None` if it cannot.
type Mutate = fn(&[u8], &mut choices::Choices) -> Option<Vec<u8>>;

/// Mutates the first `size` bytes of `data`; returns the new size, at most `max_size`. Every eighth
/// time, and if `mutate` returns `None`, arbitrary bytes are changed.
pub fn mutated(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    let mut choices = choices::Choices::new(seed);
    let changed = if choices.below(8) == 0 { None } else { mutate(&data[..size], &mut choices) };
    match changed {
        Some(bytes) if bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// Runs `parse`, which must take at most `limit_bytes` of memory at a time.
fn within<T>(limit_bytes: usize, label: &str, parse: impl FnOnce() -> T) -> T {
    let (result, cost) = counting::cost(parse);
    let counting::Cost { peak_bytes, allocations: requests } = cost;
    assert!(
        peak_bytes <= limit_bytes,
        "{label} takes {peak_bytes} bytes of memory in {requests} requests, and {limit_bytes} bytes are the limit"
    );
    result
}
