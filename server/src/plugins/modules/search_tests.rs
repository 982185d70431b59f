use std::os::unix::fs::symlink;

use super::*;

/// A temporary folder with files and subfolders. A name that ends with `/` makes a folder.
struct TestFolder(tempfile::TempDir);

impl TestFolder {
    fn of(names: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        for name in names {
            let path = folder.path(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).expect("makes");
            } else {
                fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
                fs::write(path, name).expect("writes");
            }
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("a path").join(name)
    }

    fn search(&self, dir: &str) -> SearchResult {
        self.search_within(&[dir], Limits::default())
    }

    fn search_within(&self, dirs: &[&str], limits: Limits) -> SearchResult {
        let dirs: Vec<PathBuf> = dirs.iter().map(|dir| self.path(dir)).collect();
        search(&dirs, limits, &|_| true)
    }

    /// Returns the paths relative to this folder.
    fn names<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<String> {
        let root = self.path("");
        let name = |path: &PathBuf| {
            path.strip_prefix(&root).expect("a path below the root").to_string_lossy().into_owned()
        };
        paths.into_iter().map(name).collect()
    }

    fn modules(&self, result: &SearchResult) -> Vec<String> {
        self.names(result.modules.iter().map(|module| &module.path))
    }

    fn ignored(&self, result: &SearchResult) -> Vec<String> {
        self.names(result.ignored.iter().map(|remark| &remark.path))
    }
}

#[test]
fn modules_are_recognized_by_their_extensions() {
    let folder = TestFolder::of(&[
        "a/Bundle.vst3/Contents/x86_64-linux/Bundle.so",
        "b/Single.VST3",
        "c/One.dll",
        "c/Two.so",
        "c/Three.vst/Contents/MacOS/Three.so",
        "c/Four.component",
        "c/Folder.vst/Five.so",
        "c/lib.so.1",
        "c/readme.txt",
        "c/so",
        "d/Bank.sf2",
        "d/e/Bank.SF3",
    ]);
    let result = folder.search("");
    let modules = [
        "a/Bundle.vst3",
        "b/Single.VST3",
        "c/Folder.vst/Five.so",
        "c/Four.component",
        "c/One.dll",
        "c/Three.vst",
        "c/Two.so",
    ];
    assert_eq!(folder.modules(&result), modules);
    let formats: Vec<PluginFormat> = result.modules.iter().map(|module| module.format).collect();
    assert_eq!(formats[..2], [PluginFormat::Vst3; 2]);
    assert_eq!(formats[2..], [PluginFormat::Vst2; 5]);
    assert_eq!(result.modules[0].stem, "Bundle");
    assert_eq!(folder.names(result.soundfonts.iter().map(|file| &file.path)), ["d/Bank.sf2", "d/e/Bank.SF3"]);
    assert!(result.soundfonts.iter().all(|file| file.directory == folder.path("")));
    assert!(result.ignored.is_empty() && result.unreadable.is_empty() && !result.truncated, "{result:?}");
}

#[test]
fn libraries_in_a_bundle_are_not_modules() {
    let folder = TestFolder::of(&[
        "Foo.vst3/Contents/x86_64-linux/Foo.so",
        "Foo.vst3/Contents/x86_64-win/Foo.vst3",
        "Foo.vst3/Contents/x86_64-win/helper.dll",
        "Foo.vst3/loose.dll",
        // This folder has the extension of a bundle, but it is not one.
        "Vendor.vst3/Bar.vst3",
        "Vendor.vst3/data/Bar.dll",
        "Vendor.vst3/deep/er/Bar.so",
    ]);
    let result = folder.search("");
    assert_eq!(folder.modules(&result), ["Foo.vst3", "Vendor.vst3/Bar.vst3"]);
    assert_eq!(folder.ignored(&result), ["Vendor.vst3/data/Bar.dll", "Vendor.vst3/deep/er/Bar.so"]);
    assert!(result.ignored[0].reason.contains(".vst3 folder"), "{:?}", result.ignored);
    // A searched folder may lie within a bundle, or be a bundle itself.
    let inside = folder.search("Foo.vst3/Contents/x86_64-linux");
    assert_eq!((folder.modules(&inside), folder.ignored(&inside).len()), (Vec::new(), 1));
    assert_eq!(folder.modules(&folder.search("Foo.vst3")), ["Foo.vst3"]);
}

#[test]
fn a_library_beside_a_vst3_is_not_a_module() {
    let folder = TestFolder::of(&[
        "one/Foo.vst3",
        "one/Foo.dll",
        "one/Other.so",
        "one/Mac.vst/Contents/MacOS/Mac",
        "one/below/Free.dll",
        "two/Bar.vst3/Contents/x86_64-linux/Bar.so",
        "two/Bar.so",
        "three/Alone.dll",
    ]);
    let result = folder.search("");
    assert_eq!(
        folder.modules(&result),
        ["one/Foo.vst3", "one/below/Free.dll", "three/Alone.dll", "two/Bar.vst3"]
    );
    assert_eq!(folder.ignored(&result), ["one/Foo.dll", "one/Mac.vst", "one/Other.so", "two/Bar.so"]);
    assert!(result.ignored.iter().all(|remark| remark.reason == "its folder contains a .vst3 module"));
}

#[test]
fn symbolic_links_are_followed_once_even_in_loops() {
    let folder = TestFolder::of(&["store/Foo-1.2.vst3/Contents/", "list/sub/Bar.so", "elsewhere/Baz.so.4"]);
    symlink(folder.path("store/Foo-1.2.vst3"), folder.path("list/Foo.vst3")).expect("makes a symbolic link");
    symlink(folder.path("list"), folder.path("list/sub/loop")).expect("makes a symbolic link");
    symlink(folder.path("list/sub"), folder.path("list/again")).expect("makes a symbolic link");
    symlink(folder.path("elsewhere/Baz.so.4"), folder.path("list/sub/Baz.so"))
        .expect("makes a symbolic link");
    symlink(folder.path("nowhere"), folder.path("list/gone.so")).expect("makes a symbolic link");
    symlink("self", folder.path("list/self")).expect("makes a symbolic link");
    let result = folder.search_within(&["list", "list/sub", "store"], Limits::default());
    assert_eq!(folder.modules(&result), ["store/Foo-1.2.vst3", "list/sub/Bar.so", "elsewhere/Baz.so.4"]);
    assert_eq!(result.modules[0].stem, "Foo", "the module has the name of the link in the searched folder");
    assert!(!result.truncated);
}

#[test]
fn only_allowed_paths_are_searched() {
    let folder = TestFolder::of(&["in/Foo.so", "out/Bar.so", "out/Baz.sf2"]);
    symlink(folder.path("out"), folder.path("in/link")).expect("makes a symbolic link");
    symlink(folder.path("out/Bar.so"), folder.path("in/Bar.so")).expect("makes a symbolic link");
    let allowed_dir = folder.path("in");
    let result = search(&[folder.path("in"), folder.path("out")], Limits::default(), &|real| {
        real.starts_with(&allowed_dir)
    });
    assert_eq!((folder.modules(&result), result.soundfonts.len()), (vec!["in/Foo.so".to_owned()], 0));
    assert_eq!(folder.names(result.unreadable.iter().map(|remark| &remark.path)), ["out"]);
    assert!(result.unreadable[0].reason.contains("SF_PLUGIN_ROOTS"));
}

#[test]
fn unreadable_folders_are_reported() {
    let folder = TestFolder::of(&["list/Foo.so", "file"]);
    let result = folder.search_within(&["gone", "list", "file"], Limits::default());
    assert_eq!(folder.modules(&result), ["list/Foo.so"]);
    assert_eq!(folder.names(result.unreadable.iter().map(|remark| &remark.path)), ["gone", "file"]);
    assert!(result.unreadable.iter().all(|remark| !remark.reason.is_empty()));
}

#[test]
fn depth_entries_and_files_have_limits() {
    let folder = TestFolder::of(&["1/2/3/Deep.so", "1/2/Near.so", "1/a.sf2", "1/b.sf2"]);
    let search_limited =
        |depth, entries, files| folder.search_within(&["1"], Limits { depth, entries, files });
    let all_modules = search_limited(3, 6, 2);
    assert_eq!(folder.modules(&all_modules), ["1/2/3/Deep.so", "1/2/Near.so"]);
    assert!(!all_modules.truncated);
    let shallow = search_limited(2, 6, 2);
    assert_eq!((folder.modules(&shallow), shallow.truncated), (vec!["1/2/Near.so".to_owned()], true));
    let few = search_limited(3, 6, 1);
    assert_eq!((few.modules.len(), few.soundfonts.len(), few.truncated), (1, 1, true));
    assert!(search_limited(3, 4, 2).truncated);
}
