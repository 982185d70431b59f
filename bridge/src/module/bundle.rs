//! Finds the dynamic library in a plugin module that is built for this machine.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::FailureReason;

/// Returns the folders in a bundle's `Contents` that may have a library for this machine, each with
/// the library's extension. Source: VST 3 Developer Portal, "Plug-in Format Structure".
fn library_folders() -> Vec<(String, &'static str)> {
    let architecture = match std::env::consts::ARCH {
        "x86" => "i386",
        "arm" => "armv7l",
        architecture => architecture,
    };
    match std::env::consts::OS {
        "windows" if architecture == "aarch64" => {
            vec![("arm64ec-win".to_owned(), "vst3"), ("arm64-win".to_owned(), "vst3")]
        }
        "windows" if architecture == "i386" => vec![("x86-win".to_owned(), "vst3")],
        "windows" => vec![(format!("{architecture}-win"), "vst3")],
        "macos" => vec![("MacOS".to_owned(), "")],
        system => vec![(format!("{architecture}-{system}"), "so")],
    }
}

/// Returns the path of the library to load for a module. A module that is a file is the library
/// itself; a bundle has a library for each kind of machine.
pub(crate) fn library_path(module: &Path) -> Result<PathBuf, FailureReason> {
    let contents = module.join("Contents");
    if !module.is_dir() {
        return Ok(module.to_owned());
    }
    for (library_folder, extension) in library_folders() {
        let stem = module.file_stem().unwrap_or_default();
        let mut path = contents.join(&library_folder).join(stem).into_os_string();
        if !extension.is_empty() {
            path.push(".");
            path.push(extension);
        }
        let path = PathBuf::from(path);
        if path.is_file() {
            return Ok(path);
        }
        // If a user renames a bundle, its library keeps the old name.
        if let [library] = libraries(&contents.join(&library_folder), extension).as_slice() {
            return Ok(library.clone());
        }
    }
    let folders: Vec<String> =
        library_folders().into_iter().map(|(library_folder, _)| library_folder).collect();
    let only_for_others = match other_machines(&contents, &folders).as_slice() {
        [] => String::new(),
        machine_folders => format!(", only for {}", machine_folders.join(" and ")),
    };
    let folders = folders.join(" or Contents/");
    Err(format!(
        "the bundle contains no library for this machine{only_for_others}: Contents/{folders} must contain a \
         library with the name of the bundle, or only one library"
    ))
}

/// Returns the names of the folders with libraries for other machines, such as `aarch64-linux`.
fn other_machines(contents: &Path, folders: &[String]) -> Vec<String> {
    let entries = fs::read_dir(contents).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_machine = |name: &str| name.ends_with("-linux") || name.ends_with("-win") || name == "MacOS";
    let mut machine_folders: Vec<String> =
        names.filter(|name| is_machine(name) && !folders.contains(name)).collect();
    machine_folders.sort();
    machine_folders
}

fn libraries(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_file() && path.extension().unwrap_or(OsStr::new("")) == extension).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn check(files: &[&str], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().expect("a folder");
        let library_folder = format!("Contents/{}-linux", std::env::consts::ARCH);
        for file in files {
            let path = folder.path().join(file.replace("HERE", &library_folder));
            fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
            fs::write(path, "").expect("writes");
        }
        let library_file = library_path(&folder.path().join("Foo.vst3"));
        match expected {
            Ok(file) => {
                assert_eq!(library_file, Ok(folder.path().join(file.replace("HERE", &library_folder))));
            }
            Err(reason) => {
                assert!(library_file.as_ref().is_err_and(|error| error.contains(reason)), "{library_file:?}");
            }
        }
    }

    #[test]
    fn the_library_for_this_machine_is_found_even_in_a_renamed_bundle() {
        check(&["Foo.vst3"], Ok("Foo.vst3"));
        check(&["Foo.vst3/HERE/Foo.so", "Foo.vst3/HERE/libhelp.so"], Ok("Foo.vst3/HERE/Foo.so"));
        check(&["Foo.vst3/HERE/Old Name.so", "Foo.vst3/HERE/data.txt"], Ok("Foo.vst3/HERE/Old Name.so"));
        check(&["Foo.vst3/HERE/One.so", "Foo.vst3/HERE/Two.so"], Err("no library for this machine"));
        check(
            &["Foo.vst3/Contents/x86_64-win/Foo.vst3", "Foo.vst3/Contents/riscv64-linux/Foo.so"],
            Err("this machine, only for riscv64-linux and x86_64-win: Contents/"),
        );
    }
}
