use std::os::unix::fs::symlink;

use super::*;

/// A folder with files and folders; a name that ends with `/` is a folder.
struct Tree(tempfile::TempDir);

impl Tree {
    fn of(names: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().expect("a folder"));
        for name in names {
            let path = tree.path(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).expect("makes");
            } else {
                fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
                fs::write(path, name).expect("writes");
            }
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("a path").join(name)
    }

    fn search(&self, dir: &str) -> Found {
        self.search_within(&[dir], Limits::default())
    }

    fn search_within(&self, dirs: &[&str], limits: Limits) -> Found {
        let dirs: Vec<PathBuf> = dirs.iter().map(|dir| self.path(dir)).collect();
        search(&dirs, limits, &|_| true)
    }

    /// Paths below the tree.
    fn names<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<String> {
        let root = self.path("");
        let name = |path: &PathBuf| path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
        paths.into_iter().map(name).collect()
    }

    fn modules(&self, found: &Found) -> Vec<String> {
        self.names(found.modules.iter().map(|module| &module.path))
    }

    fn ignored(&self, found: &Found) -> Vec<String> {
        self.names(found.ignored.iter().map(|remark| &remark.path))
    }
}

#[test]
fn modules_are_recognised_by_their_extensions() {
    let tree = Tree::of(&[
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
    let found = tree.search("");
    let modules = [
        "a/Bundle.vst3",
        "b/Single.VST3",
        "c/Folder.vst/Five.so",
        "c/Four.component",
        "c/One.dll",
        "c/Three.vst",
        "c/Two.so",
    ];
    assert_eq!(tree.modules(&found), modules);
    let formats: Vec<PluginFormat> = found.modules.iter().map(|module| module.format).collect();
    assert_eq!(formats[..2], [PluginFormat::Vst3; 2]);
    assert_eq!(formats[2..], [PluginFormat::Vst2; 5]);
    assert_eq!(found.modules[0].stem, "Bundle");
    assert_eq!(tree.names(found.soundfonts.iter().map(|file| &file.path)), ["d/Bank.sf2", "d/e/Bank.SF3"]);
    assert!(found.soundfonts.iter().all(|file| file.directory == tree.path("")));
    assert!(found.ignored.is_empty() && found.unreadable.is_empty() && !found.truncated, "{found:?}");
}

#[test]
fn libraries_in_a_bundle_are_not_modules() {
    let tree = Tree::of(&[
        "Foo.vst3/Contents/x86_64-linux/Foo.so",
        "Foo.vst3/Contents/x86_64-win/Foo.vst3",
        "Foo.vst3/Contents/x86_64-win/helper.dll",
        "Foo.vst3/loose.dll",
        // A folder with that name, but not a bundle.
        "Vendor.vst3/Bar.vst3",
        "Vendor.vst3/data/Bar.dll",
        "Vendor.vst3/deep/er/Bar.so",
    ]);
    let found = tree.search("");
    assert_eq!(tree.modules(&found), ["Foo.vst3", "Vendor.vst3/Bar.vst3"]);
    assert_eq!(tree.ignored(&found), ["Vendor.vst3/data/Bar.dll", "Vendor.vst3/deep/er/Bar.so"]);
    assert!(found.ignored[0].reason.contains(".vst3 folder"), "{:?}", found.ignored);
    // A listed folder may be in a bundle, or be a bundle.
    let inside = tree.search("Foo.vst3/Contents/x86_64-linux");
    assert_eq!((tree.modules(&inside), tree.ignored(&inside).len()), (Vec::new(), 1));
    assert_eq!(tree.modules(&tree.search("Foo.vst3")), ["Foo.vst3"]);
}

#[test]
fn a_library_beside_a_vst3_is_not_a_module() {
    let tree = Tree::of(&[
        "one/Foo.vst3",
        "one/Foo.dll",
        "one/Other.so",
        "one/Mac.vst/Contents/MacOS/Mac",
        "one/below/Free.dll",
        "two/Bar.vst3/Contents/x86_64-linux/Bar.so",
        "two/Bar.so",
        "three/Alone.dll",
    ]);
    let found = tree.search("");
    assert_eq!(
        tree.modules(&found),
        ["one/Foo.vst3", "one/below/Free.dll", "three/Alone.dll", "two/Bar.vst3"]
    );
    assert_eq!(tree.ignored(&found), ["one/Foo.dll", "one/Mac.vst", "one/Other.so", "two/Bar.so"]);
    assert!(found.ignored.iter().all(|remark| remark.reason == "its folder contains a .vst3 module"));
}

#[test]
fn links_are_followed_once_and_loops_end() {
    let tree = Tree::of(&["store/Foo-1.2.vst3/Contents/", "list/sub/Bar.so", "elsewhere/Baz.so.4"]);
    symlink(tree.path("store/Foo-1.2.vst3"), tree.path("list/Foo.vst3")).expect("links");
    symlink(tree.path("list"), tree.path("list/sub/loop")).expect("links");
    symlink(tree.path("list/sub"), tree.path("list/again")).expect("links");
    symlink(tree.path("elsewhere/Baz.so.4"), tree.path("list/sub/Baz.so")).expect("links");
    symlink(tree.path("nowhere"), tree.path("list/gone.so")).expect("links");
    symlink("self", tree.path("list/self")).expect("links");
    let found = tree.search_within(&["list", "list/sub", "store"], Limits::default());
    assert_eq!(tree.modules(&found), ["store/Foo-1.2.vst3", "list/sub/Bar.so", "elsewhere/Baz.so.4"]);
    assert_eq!(found.modules[0].stem, "Foo", "the name is the one that the folder shows");
    assert!(!found.truncated);
}

#[test]
fn only_allowed_paths_are_searched() {
    let tree = Tree::of(&["in/Foo.so", "out/Bar.so", "out/Baz.sf2"]);
    symlink(tree.path("out"), tree.path("in/link")).expect("links");
    symlink(tree.path("out/Bar.so"), tree.path("in/Bar.so")).expect("links");
    let within = tree.path("in");
    let found =
        search(&[tree.path("in"), tree.path("out")], Limits::default(), &|real| real.starts_with(&within));
    assert_eq!((tree.modules(&found), found.soundfonts.len()), (vec!["in/Foo.so".to_owned()], 0));
    assert_eq!(tree.names(found.unreadable.iter().map(|remark| &remark.path)), ["out"]);
    assert!(found.unreadable[0].reason.contains("SF_PLUGIN_ROOTS"));
}

#[test]
fn unreadable_folders_are_reported() {
    let tree = Tree::of(&["list/Foo.so", "file"]);
    let found = tree.search_within(&["gone", "list", "file"], Limits::default());
    assert_eq!(tree.modules(&found), ["list/Foo.so"]);
    assert_eq!(tree.names(found.unreadable.iter().map(|remark| &remark.path)), ["gone", "file"]);
    assert!(found.unreadable.iter().all(|remark| !remark.reason.is_empty()));
}

#[test]
fn depth_entries_and_files_have_limits() {
    let tree = Tree::of(&["1/2/3/Deep.so", "1/2/Near.so", "1/a.sf2", "1/b.sf2"]);
    let within = |depth, entries, files| tree.search_within(&["1"], Limits { depth, entries, files });
    let all = within(3, 6, 2);
    assert_eq!(tree.modules(&all), ["1/2/3/Deep.so", "1/2/Near.so"]);
    assert!(!all.truncated);
    let shallow = within(2, 6, 2);
    assert_eq!((tree.modules(&shallow), shallow.truncated), (vec!["1/2/Near.so".to_owned()], true));
    let few = within(3, 6, 1);
    assert_eq!((few.modules.len(), few.soundfonts.len(), few.truncated), (1, 1, true));
    assert!(within(3, 4, 2).truncated);
}
