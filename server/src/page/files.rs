//! Reads the files of the web page from its folder, adds a media type and an entity tag, and caches
//! them.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use axum::body::Bytes;
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;

/// Maximum size of a file of the web page, in bytes. Files of a build are far smaller.
const FILE_MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum size of the cache, in bytes.
const CACHE_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Cache of the files of the web page.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageFiles {
    cache: Arc<Mutex<HashMap<PathBuf, Arc<PageFile>>>>,
    /// Locked while a file is read, so that simultaneous requests read it once.
    reading: Arc<Mutex<()>>,
}

/// A file of the web page.
#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) bytes: Bytes,
    /// Contents of the compressed copy, if the build made one.
    pub(super) brotli: Option<Bytes>,
    pub(super) etag: String,
    pub(super) media_type: &'static str,
    /// Versions of the file and of its compressed copy.
    version: [Option<Version>; 2],
}

/// Size in bytes and modification time of a file.
type Version = (u64, Option<SystemTime>);

impl PageFiles {
    /// Returns the file at `path` below `folder`. `None` if no such file exists, if it is larger
    /// than [`FILE_MAX_BYTES`], or if the path or a symbolic link leads out of the folder.
    pub(super) async fn read(&self, folder: &Path, path: &str) -> Result<Option<Arc<PageFile>>, ApiError> {
        let Some(file) = path_below(folder, path) else { return Ok(None) };
        let (files, folder) = (self.clone(), folder.to_owned());
        let read_result = tokio::task::spawn_blocking(move || files.read_blocking(&folder, &file)).await?;
        match read_result {
            Ok(file) => Ok(file),
            Err(error) if is_no_file(error.kind()) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn read_blocking(&self, folder: &Path, file: &Path) -> io::Result<Option<Arc<PageFile>>> {
        let real_path = file.canonicalize()?;
        let metadata = real_path.metadata()?;
        let is_valid = |metadata: &Metadata| metadata.is_file() && metadata.len() <= FILE_MAX_BYTES;
        if !real_path.starts_with(folder.canonicalize()?) || !is_valid(&metadata) {
            return Ok(None);
        }
        let copy = PathBuf::from(format!("{}.br", real_path.display()));
        // A compressed copy that is older than its file is from an earlier build.
        let copy_metadata = copy
            .symlink_metadata()
            .ok()
            .filter(|copy| is_valid(copy) && copy.modified().ok() >= metadata.modified().ok());
        let version = |metadata: &Metadata| (metadata.len(), metadata.modified().ok());
        let version = [Some(version(&metadata)), copy_metadata.as_ref().map(version)];
        let cached_file = || {
            let cached_file = lock(&self.cache).get(&real_path).cloned();
            cached_file.filter(|cached_file| cached_file.version == version)
        };
        if let Some(cached_file) = cached_file() {
            return Ok(Some(cached_file));
        }
        let _reading = lock(&self.reading);
        if let Some(cached_file) = cached_file() {
            return Ok(Some(cached_file));
        }
        let bytes = Bytes::from(std::fs::read(&real_path)?);
        let brotli = copy_metadata.map(|_| std::fs::read(&copy).map(Bytes::from)).transpose()?;
        let etag = format!("\"{:x}\"", Sha256::digest(&bytes));
        let file = Arc::new(PageFile { bytes, brotli, etag, media_type: media_type(file), version });
        let mut cache = lock(&self.cache);
        cache.insert(real_path, Arc::clone(&file));
        if cache.values().map(|file| file.size_bytes()).sum::<usize>() > CACHE_MAX_BYTES {
            cache.clear();
        }
        Ok(Some(file))
    }
}

impl PageFile {
    fn size_bytes(&self) -> usize {
        self.bytes.len() + self.brotli.as_ref().map_or(0, Bytes::len)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the file path in the folder for the path of a URL. `None` if the URL's path leads out of
/// the folder, names a hidden file, or has a character that is not allowed.
fn path_below(folder: &Path, path: &str) -> Option<PathBuf> {
    let decoded_path = percent_decode_str(path).decode_utf8().ok()?;
    let relative = Path::new(decoded_path.strip_prefix('/')?);
    let is_plain = relative.components().all(|part| match part {
        // Hidden files are not part of the page.
        Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
        _ => false,
    });
    (is_plain && !decoded_path.contains(['\\', '\0', ':'])).then(|| folder.join(relative))
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

/// Whether an error means that the file does not exist. A name that is too long belongs to no file.
fn is_no_file(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error, NotFound | NotADirectory | InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_out_of_the_folder_are_refused() {
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
            assert_eq!(path_below(folder, path), None, "{path}");
        }
        assert_eq!(path_below(folder, "/assets/a%20b.js"), Some(PathBuf::from("/srv/page/assets/a b.js")));
        // An invalid escape is not decoded (URL Standard, "percent-decode").
        assert_eq!(path_below(folder, "/%zz%"), Some(PathBuf::from("/srv/page/%zz%")));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn simultaneous_requests_read_a_file_once() {
        const REQUESTS: usize = 32;
        let page = tempfile::tempdir().expect("a folder");
        std::fs::write(page.path().join("a.js"), vec![b' '; 100_000]).unwrap();
        let files = PageFiles::default();
        let requests: Vec<_> = (0..REQUESTS)
            .map(|_| {
                let (files, folder) = (files.clone(), page.path().to_owned());
                tokio::spawn(async move { files.read(&folder, "/a.js").await.unwrap().expect("the file") })
            })
            .collect();
        let mut answers = Vec::new();
        for request in requests {
            answers.push(request.await.unwrap());
        }
        assert!(answers.iter().all(|answer| Arc::ptr_eq(answer, &answers[0])));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn symbolic_links_out_of_the_folder_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let page = dir.path().join("page");
        std::fs::create_dir(&page).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(page.join("open.txt"), "y").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), page.join("link.txt")).unwrap();
        let files = PageFiles::default();
        let read_page_file = async |path: &str| files.read(&page, path).await.unwrap();
        assert!(read_page_file("/link.txt").await.is_none());
        assert_eq!(read_page_file("/open.txt").await.expect("the file exists").bytes, "y");
        assert!(read_page_file("/").await.is_none());
        assert!(read_page_file("/open.txt/more").await.is_none());
        assert!(read_page_file(&format!("/{}", "x".repeat(300))).await.is_none());
        assert!(read_page_file(&"/x".repeat(5000)).await.is_none());
    }
}
