//! Runs `songfoundry-bridge scan` on test modules and checks the records that it prints.

mod modules;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use modules::install;
use songfoundry_bridge_protocol::{PluginKind, ScanRecord, ScannedPlugin};

fn scan(file: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_songfoundry-bridge")).arg("scan").arg(file).output();
    output.expect("the helper runs")
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
        record => panic!("expected a plugin record, got {record:?}"),
    };
    records.into_iter().map(plugin).collect()
}

fn id_name_and_kind(plugin: &ScannedPlugin) -> (&str, &str, PluginKind) {
    (&plugin.plugin_id, &plugin.name, plugin.kind)
}

#[test]
fn vst3_plugins_are_listed_with_their_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = format!("Mixed.vst3/Contents/{}-linux/Mixed.so", std::env::consts::ARCH);
    install(&folder, "mixed", &inside);
    let listed_plugins = plugins(&scan(&folder.path().join("Mixed.vst3")));
    let id = |digits: &str| digits.repeat(16);
    assert_eq!(
        listed_plugins.iter().map(id_name_and_kind).collect::<Vec<_>>(),
        [
            (id("31").as_str(), "Mixed Drums", PluginKind::Instrument),
            (id("32").as_str(), "Mixed Echo", PluginKind::Effect),
            (id("33").as_str(), "Mixed Something", PluginKind::Unclassified),
        ]
    );
    assert!(
        listed_plugins
            .iter()
            .all(|plugin| (plugin.vendor.as_str(), plugin.version.as_str()) == ("Songfoundry", "1.2.3"))
    );
    assert_eq!(listed_plugins[0].categories, ["Instrument", "Drum"]);
    // Classes of other categories are not listed.
    let single_plugin = plugins(&scan(&install(&folder, "instrument", "Single.VST3")));
    assert_eq!(single_plugin.iter().map(|plugin| plugin.name.as_str()).collect::<Vec<_>>(), ["Test Synth"]);
}

#[test]
fn vst2_plugins_are_classified_by_their_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let synth = plugins(&scan(&install(&folder, "vst2_synth", "Synth-vst.so")));
    assert_eq!(id_name_and_kind(&synth[0]), ("54535932", "Test Synth Two", PluginKind::Instrument));
    assert_eq!((synth.len(), synth[0].vendor.as_str()), (1, "Songfoundry"));
    let effect = plugins(&scan(&install(&folder, "vst2_effect", "Effect.dll")));
    assert_eq!(id_name_and_kind(&effect[0]), ("54454632", "Test Effect Two", PluginKind::Effect));
}

#[test]
fn all_plugins_of_a_vst2_shell_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed_plugins = plugins(&scan(&install(&folder, "vst2_shell", "Shell.so")));
    let synth = ("00000001", "Shell Synth", PluginKind::Instrument);
    let effect = ("00000002", "Shell Effect", PluginKind::Effect);
    assert_eq!(listed_plugins.iter().map(id_name_and_kind).collect::<Vec<_>>(), [synth, effect]);
}

/// Changes the field `e_machine` of an ELF file.
fn set_architecture(library: &Path, number: u8) {
    let mut bytes = std::fs::read(library).expect("reads");
    bytes[18] = number;
    bytes[19] = 0;
    std::fs::write(library, bytes).expect("writes");
}

/// Makes a library that needs a library which is then deleted.
fn needing_missing_library(folder: &tempfile::TempDir) -> PathBuf {
    let link = |arguments: &[&str]| {
        let status =
            Command::new("cc").args(["-shared", "-x", "c"]).args(arguments).current_dir(folder).status();
        assert!(status.expect("the C compiler runs").success(), "{arguments:?}");
    };
    let missing = "libsongfoundry-missing.so.9";
    link(&["/dev/null", "-Wl,-soname,libsongfoundry-missing.so.9", "-o", missing]);
    link(&["/dev/null", "-Wl,--no-as-needed", "-x", "none", missing, "-o", "Needy.so"]);
    std::fs::remove_file(folder.path().join(missing)).expect("removes");
    folder.path().join("Needy.so")
}

#[test]
fn invalid_modules_are_reported_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("Empty.vst3/Contents/x86_64-win")).expect("makes");
    std::fs::write(folder.path().join("Text.vst3"), "no library").expect("writes");
    let not_vst3 = install(&folder, "vst2_effect", "Effect.vst3");
    let foreign = install(&folder, "vst2_effect", "Foreign.so");
    set_architecture(&foreign, 0xf3);
    let needs_library = needing_missing_library(&folder);
    let not_vst2 = install(&folder, "instrument", "Synth.so");
    for (file, expected) in [
        (folder.path().join("Empty.vst3"), "no library for this machine"),
        (folder.path().join("Text.vst3"), "cannot be loaded"),
        (folder.path().join("None.so"), "cannot be loaded"),
        (foreign, "built for riscv64, but this machine is"),
        (needs_library, "needs the library `libsongfoundry-missing.so.9`, which is not installed"),
        (not_vst3, "no function `ModuleEntry`"),
        (not_vst2, "no function `VSTPluginMain`"),
    ] {
        let output = scan(&file);
        match records(&output).as_slice() {
            [ScanRecord::Failed { reason }, ScanRecord::End { plugins: 0 }] => {
                assert!(reason.contains(expected), "{}: {reason}", file.display());
            }
            records => panic!("{}: expected a failure, got {records:?}", file.display()),
        }
        assert!(output.status.success());
    }
}

#[test]
fn text_that_a_module_prints_does_not_mix_with_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = scan(&install(&folder, "loud", "Loud.vst3"));
    assert_eq!(plugins(&output).len(), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("half a line"));
}

#[test]
fn a_module_that_ends_the_helper_leaves_no_end_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let exit_scan = scan(&install(&folder, "leave", "Leave.vst3"));
    assert_eq!((records(&exit_scan), exit_scan.status.code()), (Vec::new(), Some(0)));
    let crash_scan = scan(&install(&folder, "crash", "Crash.vst3"));
    assert_eq!((records(&crash_scan), crash_scan.status.code()), (Vec::new(), None));
    let hungry = scan(&install(&folder, "hungry", "Hungry.vst3"));
    assert_eq!((records(&hungry), hungry.status.code()), (Vec::new(), None));
}

#[test]
fn the_helper_ends_when_its_parent_ends() {
    use std::io::Read as _;
    use std::process::Stdio;
    let folder = tempfile::tempdir().expect("a folder");
    let hang = install(&folder, "hang", "Hang.vst3");
    // The shell starts the helper, which hangs in the module, and exits after a second. Reading
    // ends when the helper is killed, because its standard output is then closed.
    let script = "SF_PARENT_PID=$$ \"$0\" scan \"$1\" & sleep 1";
    let mut shell = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_songfoundry-bridge")])
        .arg(hang)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut printed_text = String::new();
    shell.stdout.take().expect("a pipe").read_to_string(&mut printed_text).expect("ends");
    assert_eq!(printed_text, "");
    shell.wait().expect("ended");
}
