//! Rules for the sources of the engine.

use std::path::Path;

use crate::cycles::cycles_between_files;

#[test]
fn files_of_the_engine_have_no_import_cycles() {
    let folder = Path::new(crate::ROOT).join("dsp-core/src");
    assert_eq!(
        cycles_between_files(&folder, &[]),
        [""; 0],
        "files of the engine import each other in cycles"
    );
}
