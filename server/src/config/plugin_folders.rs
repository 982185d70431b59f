//! The usual plugin folders of each operating system. Sources: VST 3 Developer Portal, "Plug-in
//! Locations"; for VST2, the folders of Debian's packages and of installers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Environment variables with lists of plugin folders, separated as in `PATH`.
const LISTS: [&str; 2] = ["VST3_PATH", "VST_PATH"];

/// Returns the usual plugin folders of `system` (as in [`std::env::consts::OS`]), even those that
/// do not exist. The folders in environment variables are the first ones. `variable` reads an
/// environment variable.
pub(super) fn usual_folders(
    system: &str,
    home: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let in_home = |path: &str| home.map(|home| home.join(path));
    let below = |name: &str, path: &str| Some(PathBuf::from(variable(name)?).join(path));
    let of_system = match system {
        "macos" => vec![
            in_home("Library/Audio/Plug-Ins/VST3"),
            Some("/Library/Audio/Plug-Ins/VST3".into()),
            Some("/Network/Library/Audio/Plug-Ins/VST3".into()),
            in_home("Library/Audio/Plug-Ins/VST"),
            Some("/Library/Audio/Plug-Ins/VST".into()),
        ],
        "windows" => vec![
            below("LOCALAPPDATA", "Programs/Common/VST3"),
            below("CommonProgramFiles", "VST3"),
            below("ProgramFiles", "VSTPlugins"),
            below("ProgramFiles", "Steinberg/VSTPlugins"),
            below("CommonProgramFiles", "VST2"),
            below("CommonProgramFiles", "Steinberg/VST2"),
        ],
        _ => vec![
            in_home(".vst3"),
            Some("/usr/lib/vst3".into()),
            Some("/usr/local/lib/vst3".into()),
            in_home(".vst"),
            Some("/usr/lib/vst".into()),
            Some("/usr/lib/lxvst".into()),
            Some("/usr/local/lib/vst".into()),
        ],
    };
    let listed_paths = LISTS.iter().filter_map(|name| variable(name));
    let listed_paths = listed_paths.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
    listed_paths.filter(|dir| dir.is_absolute()).chain(of_system.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(system: &str, home: Option<&str>, variables: &[(&str, &str)], expected: &[&str]) {
        let variable = |name: &str| {
            variables.iter().find(|(other_name, _)| *other_name == name).map(|(_, value)| value.into())
        };
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(usual_folders(system, home.map(Path::new), &variable), expected, "{system}");
    }

    #[test]
    fn each_system_has_its_folders() {
        let linux = ["/usr/lib/vst3", "/usr/local/lib/vst3", "/usr/lib/vst", "/usr/lib/lxvst"];
        check("linux", None, &[], &[&linux[..], &["/usr/local/lib/vst"]].concat());
        let lists = [("VST_PATH", "/c:relative"), ("VST3_PATH", "/a:/b")];
        let with_home = ["/a", "/b", "/c", "/h/.vst3", linux[0], linux[1], "/h/.vst", linux[2], linux[3]];
        check("linux", Some("/h"), &lists, &[&with_home[..], &["/usr/local/lib/vst"]].concat());
        let plug_ins = [
            "/h/Library/Audio/Plug-Ins/VST3",
            "/Library/Audio/Plug-Ins/VST3",
            "/Network/Library/Audio/Plug-Ins/VST3",
            "/h/Library/Audio/Plug-Ins/VST",
            "/Library/Audio/Plug-Ins/VST",
        ];
        check("macos", Some("/h"), &[], &plug_ins);
        check("windows", None, &[("CommonProgramFiles", "/p")], &["/p/VST3", "/p/VST2", "/p/Steinberg/VST2"]);
    }
}
