//! The modules of `tests/plugins`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the folder with the modules of `tests/plugins`, which are built once.
pub(crate) fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let build_status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--package", "songfoundry-test-plugins", "--examples"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .status();
        assert!(build_status.expect("cargo runs").success(), "the modules of tests/plugins cannot be built");
        let program = Path::new(env!("CARGO_BIN_EXE_songfoundry-bridge"));
        program.parent().expect("a folder").join("examples")
    })
}

/// Copies a module to `name` in a folder and returns the path of the copy. `name` may be a path in
/// a bundle.
pub(crate) fn install(folder: &tempfile::TempDir, module: &str, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
    std::fs::copy(modules().join(format!("lib{module}.so")), &path).expect("copies");
    path
}
