//! The rules of the engine's sources.

use std::path::Path;

use crate::cycles::between_files;

#[test]
fn files_import_in_one_direction() {
    let folder = Path::new(crate::ROOT).join("dsp-core/src");
    assert_eq!(between_files(&folder, &[]), [""; 0], "files of the engine import each other in cycles");
}
