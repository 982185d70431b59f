//! Entry point of the program `songfoundry`.

use std::process::ExitCode;

fn main() -> ExitCode {
    songfoundry_server::cli::run()
}
