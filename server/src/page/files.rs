//! Reading a file of the page: safely, with its type and entity tag.

use std::io;
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;

/// Largest file of the page, in bytes: far above what a build makes.
const FILE_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A file of the page.
#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) bytes: Vec<u8>,
    pub(super) etag: String,
    pub(super) media_type: &'static str,
}

/// The file at `path` below `folder`; `None` if there is none, or if the path or a link leads out of the folder.
pub(super) async fn read(folder: &Path, path: &str) -> Result<Option<PageFile>, ApiError> {
    let Some(file) = below(folder, path) else { return Ok(None) };
    let folder = folder.to_owned();
    let found = tokio::task::spawn_blocking(move || read_blocking(&folder, &file)).await?;
    match found {
        Ok(file) => Ok(file),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn read_blocking(folder: &Path, file: &Path) -> io::Result<Option<PageFile>> {
    let real = file.canonicalize()?;
    let facts = real.metadata()?;
    if !real.starts_with(folder.canonicalize()?) || !facts.is_file() || facts.len() > FILE_MAX_BYTES {
        return Ok(None);
    }
    let bytes = std::fs::read(&real)?;
    let etag = format!("\"{:x}\"", Sha256::digest(&bytes));
    Ok(Some(PageFile { bytes, etag, media_type: media_type(file) }))
}

/// The path in the folder that a URL's path names, if it consists of plain names only.
fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let relative = Path::new(decoded.strip_prefix('/')?);
    let plain = relative.components().all(|part| match part {
        // Names that start with a dot are nobody's business.
        Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
        _ => false,
    });
    (plain && !decoded.contains(['\\', '\0', ':'])).then(|| folder.join(relative))
}

fn media_type(file: &Path) -> &'static str {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "txt" => "text/plain; charset=utf-8",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leaves_the_folder() {
        let folder = Path::new("/srv/page");
        for path in [
            "/../secret",
            "/assets/../../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "//etc/passwd",
            "/%2Fetc/passwd",
            "/a\\..\\b",
            "/.git/config",
            "/assets/.hidden",
            "/a%00b",
            "/%e9",
        ] {
            assert_eq!(below(folder, path), None, "{path}");
        }
        assert_eq!(below(folder, "/assets/a%20b.js"), Some(PathBuf::from("/srv/page/assets/a b.js")));
        // What escapes nothing stands for itself (URL Standard, "percent-decode").
        assert_eq!(below(folder, "/%zz%"), Some(PathBuf::from("/srv/page/%zz%")));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_link_leaves_the_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let page = dir.path().join("page");
        std::fs::create_dir(&page).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(page.join("open.txt"), "y").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), page.join("link.txt")).unwrap();
        assert!(read(&page, "/link.txt").await.unwrap().is_none());
        assert_eq!(read(&page, "/open.txt").await.unwrap().expect("is there").bytes, b"y");
        assert!(read(&page, "/").await.unwrap().is_none());
        assert!(read(&page, "/open.txt/more").await.unwrap().is_none());
    }
}
