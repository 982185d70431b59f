//! Puts messages of the system's loader into plain words.

use std::path::Path;

/// Describes why a library cannot be loaded, given the message of the loader of glibc or musl.
/// Returns other messages unchanged.
pub(super) fn in_plain_words(message: &str, library: &Path) -> String {
    missing_library(message)
        .filter(|name| Path::new(name) != library)
        .map(|name| format!("it needs the library `{name}`, which is not installed"))
        .or_else(|| missing_version(message))
        .or_else(|| missing_symbol(message))
        .unwrap_or_else(|| message.to_owned())
}

fn missing_library(message: &str) -> Option<&str> {
    let of_glibc = || message.strip_suffix(": cannot open shared object file: No such file or directory");
    let of_musl = || message.strip_prefix("Error loading shared library ")?.split(':').next();
    of_glibc().or_else(of_musl)
}

fn missing_version(message: &str) -> Option<String> {
    let (library, remaining) = message.split_once(": version `")?;
    let (version, _) = remaining.split_once("' not found")?;
    let name = Path::new(library).file_name()?.to_str()?;
    Some(format!("it needs version `{version}` of the library `{name}`, and the installed one is older"))
}

fn missing_symbol(message: &str) -> Option<String> {
    let of_glibc = message.split_once("undefined symbol: ").map(|(_, symbol)| symbol);
    let symbol = of_glibc.or_else(|| Some(message.strip_prefix("Error relocating ")?.split_once(": ")?.1))?;
    let symbol = symbol.split([' ', ',', ':', '\t']).next()?;
    Some(format!("it needs the function `{symbol}`, which none of its libraries has"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: &str) {
        assert_eq!(in_plain_words(message, Path::new("/p/Foo.so")), expected);
    }

    #[test]
    fn missing_libraries_and_functions_are_named() {
        let needs_x11 = "it needs the library `libX11.so.6`, which is not installed";
        check("libX11.so.6: cannot open shared object file: No such file or directory", needs_x11);
        let of_musl =
            "Error loading shared library libX11.so.6: No such file or directory (needed by /p/Foo.so)";
        check(of_musl, needs_x11);
        check(
            "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by /p/Foo.so)",
            "it needs version `GLIBC_2.99` of the library `libc.so.6`, and the installed one is older",
        );
        let needs_function = "it needs the function `png_read`, which none of its libraries has";
        check("/p/Foo.so: undefined symbol: png_read", needs_function);
        check("/p/Foo.so: undefined symbol: png_read, version PNG16_0", needs_function);
        check("Error relocating /p/Foo.so: png_read: symbol not found", needs_function);
        for wrong_message in [
            "/p/Foo.so: file too short",
            "/p/Foo.so: cannot open shared object file: No such file or directory",
        ] {
            check(wrong_message, wrong_message);
        }
    }
}
