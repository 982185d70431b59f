//! Fuzz targets, one for each kind of file that clients send. Each target is a module with
//!
//! - `check`, which panics if an input reveals a defect, or needs more memory than its limit;
//! - `mutate`, which mutates an input but keeps checksums and sizes correct, so that the data after
//!   them is read;
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
pub mod dawproject;
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

/// The name and the bytes of a seed.
pub type Seed = (String, Vec<u8>);

/// Defines the program of a target. The argument is the module of the target.
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

/// Parts of the source paths of decoders whose panics are an ordinary refusal. `decoder/child.rs`
/// of the service and `vorbis/decoded_streams.rs` of the engine catch these panics.
const DECODER_PATHS: [&str; 2] = ["/symphonia-", "/lewton-"];

/// Lets panics of decoders unwind, so that they can be caught. Every other panic aborts the
/// program, as libFuzzer requires.
fn let_decoders_panic() {
    let abort_hook = panic::take_hook();
    panic::set_hook(Box::new(move |panic_info| {
        let is_decoder = |file: &str| DECODER_PATHS.iter().any(|part| file.contains(part));
        if !panic_info.location().is_some_and(|location| is_decoder(location.file())) {
            abort_hook(panic_info);
        }
    }));
}

/// Prepares a target and reads two environment variables. `FUZZ_MAKE_SEEDS` is the path of a folder
/// to which the committed seeds are written; the program then exits. `FUZZ_INSTALLED_SEEDS` is the
/// path of a folder for seeds from files of the system.
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

/// A function that mutates an input; `None` if it cannot mutate this input.
type Mutate = fn(&[u8], &mut choices::Choices) -> Option<Vec<u8>>;

/// Mutates the first `size` bytes of `data` and returns the new size, which is at most `max_size`.
/// libFuzzer changes arbitrary bytes every eighth time, and if `mutate` returns `None`.
pub fn mutated(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    let mut choices = choices::Choices::new(seed);
    let mutated_data = if choices.below(8) == 0 { None } else { mutate(&data[..size], &mut choices) };
    match mutated_data {
        Some(bytes) if bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// Runs `parse` and checks that it never uses more than `limit_bytes` of memory.
fn with_memory_limit<T>(limit_bytes: usize, label: &str, parse: impl FnOnce() -> T) -> T {
    let (result, cost) = counting::cost(parse);
    let counting::Cost { peak_bytes, allocations: requests } = cost;
    assert!(
        peak_bytes <= limit_bytes,
        "{label} needs {peak_bytes} bytes of memory in {requests} allocations, and the limit is {limit_bytes} bytes"
    );
    result
}
