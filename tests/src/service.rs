//! A running service: the real program with its own storage folder.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Prefixes of the environment variables with which cargo describes a package to its build script
/// and tests.
const PACKAGE_VARIABLE_PREFIXES: [&str; 6] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "CARGO_TARGET_TMPDIR", "OUT_DIR"];

/// Returns the path of a program of the workspace, built from the current sources with the features
/// of the workspace. A process builds only the first program that it requests.
///
/// # Panics
///
/// If the program does not build.
pub fn debug_binary(program: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--workspace", "--bin", program])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        // Cargo sets variables of the test's package. If the build saw them, build scripts that
        // read such variables would run again, and their dependents would be rebuilt.
        for (name, _) in std::env::vars_os() {
            if name
                .to_str()
                .is_some_and(|name| PACKAGE_VARIABLE_PREFIXES.iter().any(|start| name.starts_with(start)))
            {
                cargo.env_remove(name);
            }
        }
        let built = cargo.status().expect("cargo runs");
        assert!(built.success(), "{program} does not build");
    });
    // Test programs are in target/debug/deps.
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("the target folder");
    folder.join(program)
}

/// A service on a free port of 127.0.0.1, which ends when this value is dropped.
pub struct Service {
    child: Child,
    url: String,
}

impl Service {
    /// Starts the service with a storage folder and settings.
    ///
    /// # Panics
    ///
    /// If the service does not print its address.
    pub fn start(storage: &Path, settings: &[(&str, &str)]) -> Self {
        let mut child = Command::new(debug_binary("songfoundry"))
            .arg("serve")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("SF_PORT", "0")
            .env("SF_STORAGE_DIR", storage)
            .env("SF_LOG", "warn")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let start = line.find("http://")?;
                Some(line[start..].split_whitespace().next()?.trim_end_matches('/').to_owned())
            })
            .expect("the service prints its address");
        // Further output must not fill the pipe, because the service would then wait.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }

    /// Returns the URL of an operation of the API.
    pub fn api(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.url)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // An error means that the service has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
