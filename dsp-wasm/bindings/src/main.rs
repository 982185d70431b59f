//! `dsp-wasm-bindings MODULE FOLDER`: writes the engine's WebAssembly module and its JavaScript
//! bindings for browsers to a folder.
//!
//! It uses the library behind the program `wasm-bindgen`. The library builds much faster than the
//! program, and the workspace's lock file keeps it at the version of `wasm-bindgen`.

use anyhow::Context as _;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (module, folder) =
        arguments.next().zip(arguments.next()).context("usage: dsp-wasm-bindings MODULE FOLDER")?;
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .out_name("dsp_wasm")
        .typescript(true)
        // Names of functions would be a tenth of the compressed module.
        .remove_name_section(true)
        .generate(folder)
}
