//! Settings of the storage folder, the database and stored files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::source::{invalid, invalid_address};
use super::{ConfigError, Secret, Source};
use crate::db::{DatabaseAddress, PoolLimits};

/// The storage folder, the database and the stored files.
#[derive(Debug, Clone)]
pub struct StorageConfig {
    /// Storage folder.
    pub dir: PathBuf,
    /// Place where files are stored.
    pub blobs: BlobStore,
    /// Address of the database.
    pub database: DatabaseAddress,
    /// Maximum number of database connections, and maximum wait for one.
    pub database_limits: PoolLimits,
    /// Whether to start with a database that does not refer to the stored files. Only the command
    /// line sets this.
    pub adopts_files: bool,
}

/// Place where files are stored.
#[derive(Debug, Clone)]
pub enum BlobStore {
    /// In the storage folder of this process.
    Local,
    /// In a folder that other processes share.
    SharedFolder(PathBuf),
    /// In object storage, which other processes share.
    S3(S3Config),
}

/// Object storage with the API of S3.
#[derive(Debug, Clone)]
pub struct S3Config {
    /// Bucket.
    pub bucket: String,
    /// Prefix of all object names. It may be empty.
    pub prefix: String,
    /// Address of the service; `None` for Amazon's.
    pub endpoint: Option<String>,
    /// Region.
    pub region: String,
    /// Id and secret of an access key. `None` uses the role of the machine.
    pub access_key: Option<(String, Secret)>,
    /// Disk space for local copies of objects, in bytes.
    pub cache_bytes: u64,
    /// Disk reserve in bytes. The cache leaves twice this space free.
    pub disk_reserve_bytes: u64,
}

pub(super) fn read(source: &Source) -> Result<StorageConfig, ConfigError> {
    let dir = match source.text("SF_STORAGE_DIR").0 {
        Some(text) => PathBuf::from(text),
        None => dirs::data_dir().map(|dir| dir.join("songfoundry")).ok_or(ConfigError::Missing {
            key: "SF_STORAGE_DIR",
            reason: "the account of this process has no data folder; set SF_STORAGE_DIR to the folder for all stored data",
        })?,
    };
    let dir = std::path::absolute(&dir)
        .map_err(|error| invalid("SF_STORAGE_DIR", &dir.to_string_lossy(), format!("a folder ({error})")))?;
    let database = match source.text("SF_DATABASE_URL").0 {
        Some(url) => DatabaseAddress::parse(url).ok_or_else(|| {
            let expected = "sqlite:<file> or postgres://<user>:<password>@<host>:<port>/<database>";
            invalid_address("SF_DATABASE_URL", expected)
        })?,
        None => DatabaseAddress::of_file(&dir.join("songfoundry.db")),
    };
    let blobs = blob_store(source)?;
    let connections = source.integer("SF_DATABASE_CONNECTIONS")?;
    Ok(StorageConfig {
        dir,
        blobs,
        database,
        database_limits: PoolLimits {
            connections_max: u32::try_from(connections).unwrap_or(u32::MAX),
            wait_max: Duration::from_millis(source.integer("SF_DATABASE_WAIT_MS")?),
        },
        adopts_files: false,
    })
}

fn blob_store(source: &Source) -> Result<BlobStore, ConfigError> {
    let Some(text) = source.text("SF_BLOB_STORE").0 else { return Ok(BlobStore::Local) };
    if let Some(location) = text.strip_prefix("s3://") {
        let (bucket, prefix) = location.split_once('/').unwrap_or((location, ""));
        return s3(source, bucket, prefix.trim_matches('/')).map(BlobStore::S3);
    }
    let path = Path::new(text);
    if path.is_absolute() {
        return Ok(BlobStore::SharedFolder(path.to_owned()));
    }
    let expected = "the absolute path of a folder, or s3://<bucket>/<prefix>";
    Err(invalid("SF_BLOB_STORE", text, expected.to_owned()))
}

fn s3(source: &Source, bucket: &str, prefix: &str) -> Result<S3Config, ConfigError> {
    let text = |setting_name| source.text(setting_name).0.map(str::to_owned);
    if bucket.is_empty() {
        return Err(invalid("SF_BLOB_STORE", "s3://", "s3://<bucket>/<prefix>".to_owned()));
    }
    let endpoint = text("SF_S3_ENDPOINT");
    let is_address = |url: &str| url.starts_with("http://") || url.starts_with("https://");
    if let Some(endpoint) = endpoint.as_deref().filter(|url| !is_address(url)) {
        let expected = "an address that begins with https:// or http://";
        return Err(invalid("SF_S3_ENDPOINT", endpoint, expected.to_owned()));
    }
    let missing_error = |setting_name, reason| Err(ConfigError::Missing { key: setting_name, reason });
    let access_key = match (text("SF_S3_ACCESS_KEY_ID"), text("SF_S3_SECRET_ACCESS_KEY")) {
        (Some(id), Some(secret)) => Some((id, Secret(secret))),
        (None, None) => None,
        (Some(_), None) => {
            return missing_error(
                "SF_S3_SECRET_ACCESS_KEY",
                "it is required together with SF_S3_ACCESS_KEY_ID; set both or neither",
            );
        }
        (None, Some(_)) => {
            return missing_error(
                "SF_S3_ACCESS_KEY_ID",
                "it is required together with SF_S3_SECRET_ACCESS_KEY; set both or neither",
            );
        }
    };
    Ok(S3Config {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        endpoint,
        region: text("SF_S3_REGION").unwrap_or_default(),
        access_key,
        cache_bytes: source.integer("SF_BLOB_CACHE_BYTES")?,
        disk_reserve_bytes: source.integer("SF_DISK_RESERVE_BYTES")?,
    })
}
