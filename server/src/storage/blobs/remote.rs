//! S3 object storage.

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
use crate::storage::hash::file_sha256;

/// Metadata of an object: the SHA-256 of its bytes in hexadecimal.
const SHA256: Attribute = Attribute::Metadata(Cow::Borrowed("sha256"));

/// Longest time of one request, and of all its attempts together.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
const RETRY_TIMEOUT: Duration = Duration::from_secs(180);
const RETRIES_MAX: usize = 6;

/// A bucket, or the part of it whose names begin with a prefix. Its functions block.
#[derive(Debug, Clone)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    runtime: Handle,
    /// Requests for the size of one file.
    #[cfg(test)]
    pub(super) size_requests: Arc<std::sync::atomic::AtomicUsize>,
}

impl Remote {
    /// Opens a bucket and checks that it answers.
    ///
    /// # Errors
    /// When it does not answer, or the settings are invalid.
    pub async fn open(config: &S3Config) -> anyhow::Result<Self> {
        // Fails if a provider is installed already, which is fine.
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
        if let Some((id, secret)) = &config.key {
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

    /// Object storage in the memory of this process.
    #[cfg(test)]
    pub(crate) fn in_memory() -> Self {
        let store = Arc::new(object_store::memory::InMemory::new());
        let (prefix, runtime) = ("songs".to_owned(), Handle::current());
        Self { store, prefix, runtime, size_requests: Arc::default() }
    }

    /// Stores other bytes in an object that keeps its metadata, as a faulty store would.
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

    /// Stores a file with its hash, completely or not at all.
    pub(super) fn put(&self, folder: &str, name: &str, file: &FilePath) -> io::Result<()> {
        let location = self.location(folder, name);
        let sha256 = AttributeValue::from(file_sha256(file)?);
        self.runtime.block_on(async {
            let mut source = tokio::fs::File::open(file).await?;
            let mut writer = BufWriter::new(Arc::clone(&self.store), location)
                .with_attributes(Attributes::from_iter([(SHA256, sha256)]));
            match tokio::io::copy(&mut source, &mut writer).await {
                Ok(_) => writer.shutdown().await,
                Err(error) => {
                    // Removes the stored parts; the first error is the one to report.
                    let _ = writer.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Writes a stored file to `writer`; false if there is none.
    ///
    /// # Errors
    /// When the bytes do not have the hash that was stored with them, among others.
    pub(super) fn fetch(&self, folder: &str, name: &str, writer: &mut impl Write) -> io::Result<bool> {
        let location = self.location(folder, name);
        self.runtime.block_on(async {
            let found = match self.store.get(&location).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(false),
                found => found?,
            };
            let stored_sha256 = found.attributes.get(&SHA256).cloned();
            let mut hash = Sha256::new();
            let mut chunks = found.into_stream();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk?;
                hash.update(&chunk);
                writer.write_all(&chunk)?;
            }
            if stored_sha256.is_some_and(|stored| *stored != format!("{:x}", hash.finalize())) {
                let source =
                    format!("the SHA-256 of {location} differs from that of the uploaded file").into();
                return Err(object_store::Error::Generic { store: "S3", source }.into());
            }
            writer.flush()?;
            Ok(true)
        })
    }

    /// Removes a stored file, if there is one.
    pub(super) fn remove(&self, folder: &str, name: &str) -> io::Result<()> {
        match self.runtime.block_on(self.store.delete(&self.location(folder, name))) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Whether a file is stored.
    pub(super) fn has(&self, folder: &str, name: &str) -> io::Result<bool> {
        Ok(self.size_bytes(&format!("{folder}/{name}"))?.is_some())
    }

    /// Size of a stored file in bytes, by its path; `None` if there is none.
    pub(super) fn size_bytes(&self, path: &str) -> io::Result<Option<u64>> {
        #[cfg(test)]
        self.size_requests.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match self.runtime.block_on(self.store.head(&self.folder(path))) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(found.map(|object| Some(object.size))?),
        }
    }

    /// Names of the folders in a folder.
    pub(super) fn folders(&self, folder: &str) -> io::Result<Vec<String>> {
        let found = self.runtime.block_on(self.store.list_with_delimiter(Some(&self.folder(folder))))?;
        let names = found.common_prefixes.iter().filter_map(|path| path.filename());
        Ok(names.map(str::to_owned).collect())
    }

    /// Renames a stored file, by copying and deleting it; false if there is none.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<bool> {
        let full_path = |name: &str| Path::from(format!("{}/{name}", self.prefix));
        match self.runtime.block_on(self.store.rename(&full_path(from), &full_path(to))) {
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            renamed => Ok(renamed.map(|()| true)?),
        }
    }

    /// Paths below a folder and sizes in bytes of all its files, also of subfolders.
    pub(super) fn list_recursive(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        self.runtime.block_on(async {
            let start = self.folder(folder);
            let mut found = Vec::new();
            let mut objects = self.store.list(Some(&start));
            while let Some(object) = objects.next().await {
                let object = object?;
                if let Some(parts) = object.location.prefix_match(&start) {
                    let parts: Vec<_> = parts.map(|part| part.as_ref().to_owned()).collect();
                    found.push((parts.join("/"), object.size));
                }
            }
            Ok(found)
        })
    }

    /// The stored files of a folder.
    pub(super) fn entries(&self, folder: &str) -> io::Result<Vec<Entry>> {
        self.runtime.block_on(async {
            let mut found = Vec::new();
            let mut objects = self.store.list(Some(&self.folder(folder)));
            while let Some(object) = objects.next().await {
                let object = object?;
                if let Some((id, extension)) = object.location.filename().and_then(split_name) {
                    found.push(Entry {
                        id,
                        extension,
                        stored_at: object.last_modified.into(),
                        size_bytes: object.size,
                    });
                }
            }
            Ok(found)
        })
    }
}
