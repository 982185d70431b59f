//! `songfoundry-bridge scan` on test modules: its records, and their separation from other output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use songfoundry_bridge_protocol::{PluginKind, ScanRecord, ScannedPlugin};

/// The folder with the modules of `tests/plugins`, built once.
fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--package", "songfoundry-test-plugins", "--examples"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .status();
        assert!(built.expect("cargo runs").success(), "the modules for tests cannot be built");
        let program = Path::new(env!("CARGO_BIN_EXE_songfoundry-bridge"));
        program.parent().expect("a folder").join("examples")
    })
}

fn scan(file: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_songfoundry-bridge")).arg("scan").arg(file).output();
    output.expect("the helper runs")
}

/// A copy of a module under a given name, as a bundle or a file.
fn installed(folder: &tempfile::TempDir, module: &str, name: &str) -> PathBuf {
    let to = folder.path().join(name);
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("makes");
    std::fs::copy(modules().join(format!("lib{module}.so")), &to).expect("copies");
    to
}

fn records(output: &Output) -> Vec<ScanRecord> {
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn plugins(output: &Output) -> Vec<ScannedPlugin> {
    let mut records = records(output);
    let count = records.len() - 1;
    assert_eq!(records.pop(), Some(ScanRecord::End { plugins: u32::try_from(count).expect("few") }));
    let plugin = |record| match record {
        ScanRecord::Plugin(plugin) => plugin,
        other => panic!("no plugin: {other:?}"),
    };
    records.into_iter().map(plugin).collect()
}

fn facts(plugin: &ScannedPlugin) -> (&str, &str, PluginKind) {
    (&plugin.plugin_id, &plugin.name, plugin.kind)
}

#[test]
fn vst3_plugins_are_listed_with_their_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = format!("Mixed.vst3/Contents/{}-linux/Mixed.so", std::env::consts::ARCH);
    installed(&folder, "mixed", &inside);
    let listed = plugins(&scan(&folder.path().join("Mixed.vst3")));
    let id = |digits: &str| digits.repeat(16);
    let facts: Vec<_> = listed.iter().map(facts).collect();
    assert_eq!(
        facts,
        [
            (id("31").as_str(), "Mixed Drums", PluginKind::Instrument),
            (id("32").as_str(), "Mixed Echo", PluginKind::Effect),
            (id("33").as_str(), "Mixed Something", PluginKind::Unclassified),
        ]
    );
    assert!(
        listed
            .iter()
            .all(|plugin| (plugin.vendor.as_str(), plugin.version.as_str()) == ("Songfoundry", "1.2.3"))
    );
    assert_eq!(listed[0].categories, ["Instrument", "Drum"]);
    // Other classes of a module are left out.
    let single = plugins(&scan(&installed(&folder, "instrument", "Single.VST3")));
    assert_eq!(single.iter().map(|plugin| plugin.name.as_str()).collect::<Vec<_>>(), ["Test Synth"]);
}

#[test]
fn vst2_plugins_are_classified_by_their_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let synth = plugins(&scan(&installed(&folder, "vst2_synth", "Synth-vst.so")));
    assert_eq!(facts(&synth[0]), ("54535932", "Test Synth Two", PluginKind::Instrument));
    assert_eq!((synth.len(), synth[0].vendor.as_str()), (1, "Songfoundry"));
    let effect = plugins(&scan(&installed(&folder, "vst2_effect", "Effect.dll")));
    assert_eq!(facts(&effect[0]), ("54454632", "Test Effect Two", PluginKind::Effect));
}

#[test]
fn all_plugins_of_a_vst2_shell_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = plugins(&scan(&installed(&folder, "vst2_shell", "Shell.so")));
    let facts: Vec<_> = listed.iter().map(facts).collect();
    let synth = ("00000001", "Shell Synth", PluginKind::Instrument);
    assert_eq!(facts, [synth, ("00000002", "Shell Effect", PluginKind::Effect)]);
}

#[test]
fn invalid_modules_are_reported_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("Empty.vst3/Contents/x86_64-win")).expect("makes");
    std::fs::write(folder.path().join("Text.vst3"), "no library").expect("writes");
    let not_vst3 = installed(&folder, "vst2_effect", "Effect.vst3");
    let not_vst2 = installed(&folder, "instrument", "Synth.so");
    for (file, expected) in [
        (folder.path().join("Empty.vst3"), "no library for this machine"),
        (folder.path().join("Text.vst3"), "cannot be loaded"),
        (folder.path().join("None.so"), "cannot be loaded"),
        (not_vst3, "no function `ModuleEntry`"),
        (not_vst2, "no function `VSTPluginMain`"),
    ] {
        let output = scan(&file);
        match records(&output).as_slice() {
            [ScanRecord::Failed { reason }, ScanRecord::End { plugins: 0 }] => {
                assert!(reason.contains(expected), "{}: {reason}", file.display());
            }
            other => panic!("{}: {other:?}", file.display()),
        }
        assert!(output.status.success());
    }
}

#[test]
fn output_of_a_module_is_not_a_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = scan(&installed(&folder, "loud", "Loud.vst3"));
    assert_eq!(plugins(&output).len(), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("half a line"));
}

#[test]
fn a_module_that_ends_the_helper_leaves_no_end_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = scan(&installed(&folder, "leave", "Leave.vst3"));
    assert_eq!((records(&left), left.status.code()), (Vec::new(), Some(0)));
    let crashed = scan(&installed(&folder, "crash", "Crash.vst3"));
    assert_eq!((records(&crashed), crashed.status.code()), (Vec::new(), None));
}

#[test]
fn the_helper_ends_with_its_parent() {
    use std::io::Read as _;
    use std::process::Stdio;
    let folder = tempfile::tempdir().expect("a folder");
    let hang = installed(&folder, "hang", "Hang.vst3");
    // The shell starts the helper, which hangs, and exits; the helper's standard output closes when
    // it is killed.
    let script = "SF_PARENT_PID=$$ \"$0\" scan \"$1\" & sleep 1";
    let mut shell = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_songfoundry-bridge")])
        .arg(hang)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut printed = String::new();
    shell.stdout.take().expect("a pipe").read_to_string(&mut printed).expect("ends");
    assert_eq!(printed, "");
    shell.wait().expect("ended");
}
