//! A module with one effect that waits until three copies of it are loaded at the same time. The
//! copies have the names `meeting-0` to `meeting-2`, and pass each other the named pipes of the
//! folder `pipes` beside them. The ends of a pipe wait for each other.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use songfoundry_test_plugins::vst3::Described;

/// The numbers of the copies for which the copy 0 waits.
const OTHER_COPIES: [u32; 2] = [1, 2];

/// Returns the path of this library.
fn library() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    let is_copy =
        |path: &&Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("meeting-"));
    paths.into_iter().find(is_copy).map(Path::to_owned)
}

/// Waits for the other copies. Returns whether all were there.
fn meet() -> Option<()> {
    let library = library()?;
    let number: u32 = library.file_stem()?.to_str()?.strip_prefix("meeting-")?.parse().ok()?;
    // A bundle has three folders above the library.
    let pipes = library.ancestors().nth(4)?.join("pipes");
    let pipe = |name: &str, number: u32| pipes.join(format!("{name}-{number}"));
    let read_pipe = |name: &str, number: u32| File::open(pipe(name, number)).map(drop).ok();
    let write =
        |name: &str, number: u32| OpenOptions::new().write(true).open(pipe(name, number)).map(drop).ok();
    if number > 0 {
        write("meeting", number)?;
        return read_pipe("start", number);
    }
    OTHER_COPIES.into_iter().try_for_each(|copy_number| read_pipe("meeting", copy_number))?;
    OTHER_COPIES.into_iter().try_for_each(|copy_number| write("start", copy_number))
}

songfoundry_test_plugins::vst3_module!(
    || meet().is_some(),
    &[Described { id: 0x22, name: "Meeting", category: "Audio Module Class", sub_categories: "Fx" }]
);
