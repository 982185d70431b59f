//! Accesses S3 object storage.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig,
};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;

use super::{Entry, split_name};
use crate::config::S3Config;
use crate::storage::hash::hash_file;

/// Metadata attribute of an object: the SHA-256 of its bytes in hexadecimal.
const SHA256_ATTRIBUTE: Attribute = Attribute::Metadata(Cow::Borrowed("sha256"));

/// Maximum duration of one request, and of all its attempts together; maximum number of retries.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
const RETRY_TIMEOUT: Duration = Duration::from_secs(180);
const RETRIES_MAX: usize = 6;

/// A bucket, or those objects of it whose names begin with a prefix. All functions except
/// [`Self::open`] block.
#[derive(Debug, Clone)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    runtime: Handle,
    /// Number of requests for the size of a file.
    #[cfg(test)]
    pub(super) size_requests: Arc<std::sync::atomic::AtomicUsize>,
}

impl Remote {
    /// Opens a bucket and checks that it answers a request.
    ///
    /// # Errors
    /// The bucket does not answer, or the settings are invalid.
    pub async fn open(config: &S3Config) -> anyhow::Result<Self> {
        // This fails if a provider is already installed, which does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&config.bucket)
            .with_region(&config.region)
            .with_client_options(ClientOptions::new().with_timeout(REQUEST_TIMEOUT).with_allow_http(true))
            .with_retry(RetryConfig {
                max_retries: RETRIES_MAX,
                retry_timeout: RETRY_TIMEOUT,
                ..RetryConfig::default()
            });
        if let Some(endpoint) = &config.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some((id, secret)) = &config.access_key {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret.reveal());
        }
        let store: Arc<dyn ObjectStore> = Arc::new(builder.build()?);
        let remote = Self {
            store,
            prefix: config.prefix.clone(),
            runtime: Handle::current(),
            #[cfg(test)]
            size_requests: Arc::default(),
        };
        let mut objects = remote.store.list(Some(&remote.folder("any")));
        objects.next().await.transpose()?;
        drop(objects);
        Ok(remote)
    }

    /// Makes an object store in the memory of this process.
    #[cfg(test)]
    pub(crate) fn in_memory() -> Self {
        let store = Arc::new(object_store::memory::InMemory::new());
        let (prefix, runtime) = ("songs".to_owned(), Handle::current());
        Self { store, prefix, runtime, size_requests: Arc::default() }
    }

    /// Replaces the bytes of an object but keeps its metadata, as a faulty store might.
    #[cfg(test)]
    pub(super) fn damage(&self, folder: &str, name: &str, bytes: &'static [u8]) {
        let location = self.location(folder, name);
        let damaging = async {
            let attributes = self.store.get(&location).await.expect("an object").attributes;
            let options = object_store::PutOptions { attributes, ..Default::default() };
            self.store.put_opts(&location, bytes.into(), options).await.expect("stores");
        };
        self.runtime.block_on(damaging);
    }

    fn folder(&self, folder: &str) -> Path {
        Path::from(format!("{}/{folder}", self.prefix))
    }

    fn location(&self, folder: &str, name: &str) -> Path {
        Path::from(format!("{}/{folder}/{name}", self.prefix))
    }

    /// Stores a file together with its hash, completely or not at all.
    pub(super) fn put(&self, folder: &str, name: &str, file: &FilePath) -> io::Result<()> {
        let location = self.location(folder, name);
        let sha256 = AttributeValue::from(hash_file(file)?);
        self.runtime.block_on(async {
            let mut source = tokio::fs::File::open(file).await?;
            let mut writer = BufWriter::new(Arc::clone(&self.store), location)
                .with_attributes(Attributes::from_iter([(SHA256_ATTRIBUTE, sha256)]));
            match tokio::io::copy(&mut source, &mut writer).await {
                Ok(_) => writer.shutdown().await,
                Err(error) => {
                    // This removes the parts that are already stored. Its own error is ignored,
                    // because the first error is reported.
                    let _ = writer.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Writes a stored file to a writer, which `start` makes for its size in bytes. Returns the
    /// writer, or `None` if there is no such file.
    ///
    /// # Errors
    /// Any step fails, or the bytes do not have the hash that was stored with them.
    pub(super) fn fetch<W: Write>(
        &self,
        folder: &str,
        name: &str,
        start: impl FnOnce(u64) -> io::Result<W>,
    ) -> io::Result<Option<W>> {
        let location = self.location(folder, name);
        self.runtime.block_on(async {
            let response = match self.store.get(&location).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                response => response?,
            };
            let mut writer = start(response.meta.size)?;
            let stored_sha256 = response.attributes.get(&SHA256_ATTRIBUTE).cloned();
            let mut hash = Sha256::new();
            let mut chunks = response.into_stream();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk?;
                hash.update(&chunk);
                writer.write_all(&chunk)?;
            }
            if stored_sha256.is_some_and(|sha256| *sha256 != format!("{:x}", hash.finalize())) {
                let source = format!(
                    "the SHA-256 of {location} differs from the SHA-256 that was stored with the file"
                )
                .into();
                return Err(object_store::Error::Generic { store: "S3", source }.into());
            }
            writer.flush()?;
            Ok(Some(writer))
        })
    }

    /// Removes a stored file. Does nothing if there is none.
    pub(super) fn remove(&self, folder: &str, name: &str) -> io::Result<()> {
        match self.runtime.block_on(self.store.delete(&self.location(folder, name))) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            remove_result => Ok(remove_result?),
        }
    }

    /// Whether a file with this name is stored.
    pub(super) fn contains(&self, folder: &str, name: &str) -> io::Result<bool> {
        Ok(self.read_size_bytes(&format!("{folder}/{name}"))?.is_some())
    }

    /// Returns the size in bytes of the stored file with this path; `None` if there is none.
    pub(super) fn read_size_bytes(&self, path: &str) -> io::Result<Option<u64>> {
        #[cfg(test)]
        self.size_requests.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match self.runtime.block_on(self.store.head(&self.folder(path))) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            response => Ok(response.map(|object| Some(object.size))?),
        }
    }

    /// Returns the names of the folders in a folder.
    pub(super) fn list_folders(&self, folder: &str) -> io::Result<Vec<String>> {
        let response = self.runtime.block_on(self.store.list_with_delimiter(Some(&self.folder(folder))))?;
        let names = response.common_prefixes.iter().filter_map(|path| path.filename());
        Ok(names.map(str::to_owned).collect())
    }

    /// Renames a stored file by copying and deleting it. Returns false if there is no such file.
    pub(super) fn rename(&self, old_path: &str, new_path: &str) -> io::Result<bool> {
        let full_path = |name: &str| Path::from(format!("{}/{name}", self.prefix));
        match self.runtime.block_on(self.store.rename(&full_path(old_path), &full_path(new_path))) {
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            rename_result => Ok(rename_result.map(|()| true)?),
        }
    }

    /// Returns the paths relative to a folder, and the sizes in bytes, of all files in it and its
    /// subfolders.
    pub(super) fn list_recursive(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        self.runtime.block_on(async {
            let start = self.folder(folder);
            let mut files = Vec::new();
            let mut objects = self.store.list(Some(&start));
            while let Some(object) = objects.next().await {
                let object = object?;
                if let Some(parts) = object.location.prefix_match(&start) {
                    let parts: Vec<_> = parts.map(|part| part.as_ref().to_owned()).collect();
                    files.push((parts.join("/"), object.size));
                }
            }
            Ok(files)
        })
    }

    /// Lists the stored files of a folder.
    pub(super) fn list_entries(&self, folder: &str) -> io::Result<Vec<Entry>> {
        self.runtime.block_on(async {
            let mut entries = Vec::new();
            let mut objects = self.store.list(Some(&self.folder(folder)));
            while let Some(object) = objects.next().await {
                let object = object?;
                if let Some((id, extension)) = object.location.filename().and_then(split_name) {
                    entries.push(Entry {
                        id,
                        extension,
                        stored_at: object.last_modified.into(),
                        size_bytes: object.size,
                    });
                }
            }
            Ok(entries)
        })
    }
}
