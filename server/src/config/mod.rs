//! The service's settings. They are read and checked once at the start, and never change
//! afterwards.
//!
//! If a value is invalid, the service does not start. The error names the setting, the value and
//! the accepted values.

mod accounts;
mod ai;
mod network;
mod plugin_folders;
mod plugins;
mod setting;
mod settings_table;
mod source;
mod storage;

use std::path::{Path, PathBuf};

pub use accounts::{AccountsConfig, LoginLimits, Registration};
pub use ai::{AiConfig, AiUpstream};
pub use network::{ConnectionLimits, NetworkConfig, TlsFiles};
pub use plugins::PluginsConfig;
pub use setting::{Range, Setting};
pub(crate) use settings_table::PLUGIN_SCAN_MAX_SECS_MAX;
pub use settings_table::SETTINGS;
pub use source::{Origin, Source};
use source::{absolute_path, invalid};
pub use storage::{BlobStore, S3Config, StorageConfig};

/// Reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value is not accepted.
    #[error("{key} is {value}; expected {expected}")]
    Invalid {
        /// Name of the setting's environment variable.
        key: &'static str,
        /// The value that is not accepted.
        value: String,
        /// The accepted values.
        expected: String,
    },
    /// The value of an environment variable is not text.
    #[error("the environment variable {key} is not valid UTF-8; set it to text in UTF-8, or unset it")]
    NotUnicode {
        /// Name of the environment variable.
        key: &'static str,
    },
    /// A required setting is missing.
    #[error("{key} is not set: {reason}")]
    Missing {
        /// Name of the setting's environment variable.
        key: &'static str,
        /// Reason why the setting is required.
        reason: &'static str,
    },
    /// The settings file contains a name that is not a setting.
    #[error("{}: `{name}` is not a setting; `songfoundry config` lists them", path.display())]
    UnknownKey {
        /// The settings file.
        path: PathBuf,
        /// The unknown name.
        name: String,
    },
    /// The settings file cannot be read.
    #[error("cannot read the settings file {}: {source}", path.display())]
    FileUnreadable {
        /// The settings file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The settings file is not TOML.
    #[error("{} is not valid TOML: {detail}", path.display())]
    FileMalformed {
        /// The settings file.
        path: PathBuf,
        /// Position and reason.
        detail: String,
    },
}

/// The kind of deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    /// A desktop: one machine, usually one person.
    Standalone,
    /// A server that many people reach over a network.
    Container,
}

/// The program that renders the sound of SoundFont instruments for playback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentSound {
    /// The service renders SoundFont tracks and the page plays the audio.
    Server,
    /// The page renders SoundFont tracks with its own engine.
    Client,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for a person at a terminal.
    Human,
    /// One JSON object per line.
    Json,
}

/// A value that logs and debug output hide.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Returns the hidden value.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Settings of SoundFonts and renders.
#[derive(Debug, Clone)]
pub struct SoundConfig {
    /// The program that renders instruments. The setting `auto` is already resolved.
    pub instrument_sound: InstrumentSound,
    /// Whether the service renders notes with SoundFonts.
    pub soundfont_render: bool,
    /// Folders that are searched for SoundFonts.
    pub soundfont_dirs: Vec<PathBuf>,
    /// Whether the administrator has set these folders. If so, a missing one gives a warning.
    pub soundfont_dirs_are_set: bool,
    /// `soundfont_id` of the SoundFont that replaces a missing one.
    pub default_soundfont: Option<String>,
    /// Memory for all open SoundFonts, in bytes.
    pub bank_cache_bytes: u64,
    /// Memory for the decoded samples of one SoundFont, in bytes.
    pub bank_decoded_max_bytes: u64,
    /// Memory for all renders together, in bytes.
    pub render_memory_bytes: u64,
    /// Maximum duration of a render, in seconds.
    pub render_max_secs: u64,
    /// Disk space for reduced SoundFonts, in bytes.
    pub reduced_banks_bytes: u64,
}

/// Limits on requests and stored files.
#[derive(Debug, Clone)]
pub struct LimitsConfig {
    /// Maximum size of an uploaded file, in bytes.
    pub upload_max_bytes: u64,
    /// Maximum size of an uploaded SoundFont, in bytes.
    pub soundfont_max_bytes: u64,
    /// Maximum size of a project document, in bytes.
    pub project_max_bytes: u64,
    /// Maximum size of a bundle of a project and its audio, in bytes.
    pub bundle_max_bytes: u64,
    /// Maximum size of a MIDI file, in bytes.
    pub midi_max_bytes: u64,
    /// Memory for request bodies that have not been processed yet, in bytes.
    pub bodies_memory_bytes: u64,
    /// Maximum tail of a render, in seconds.
    pub tail_max_secs: u64,
    /// Limits on audio files.
    pub audio: AudioLimits,
    /// Quota for a user's stored project revisions and tasks, in bytes.
    pub projects_quota_bytes: u64,
    /// Quota for a user's finished renders, in bytes; the oldest are deleted first.
    pub renders_quota_bytes: u64,
    /// Quota of one user for the stored sounds of plugins, in bytes.
    pub plugin_sounds_quota_bytes: u64,
    /// Number of requests that may wait for each kind of heavy work.
    pub work_waiting_max: u64,
    /// Rate limits.
    pub requests: RequestLimits,
}

/// Rate limits. 0 means no limit.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Requests of one account per minute.
    pub per_user_per_minute: u64,
    /// Requests from one address per minute.
    pub per_address_per_minute: u64,
}

/// Limits on audio files.
#[derive(Debug, Clone, Copy)]
pub struct AudioLimits {
    /// Maximum length of the decoded audio, in seconds.
    pub max_secs: u64,
    /// Maximum number of channels of a file.
    pub max_channels: u64,
    /// Quota for a user's audio, decoded copies and SoundFonts, in bytes.
    pub quota_bytes: u64,
    /// Disk space that uploads and exports leave free, in bytes.
    pub reserve_bytes: u64,
    /// Maximum time for decoding one file, in seconds.
    pub decode_max_secs: u64,
    /// Time for which an unfinished resumable upload is kept after its last part, in seconds.
    pub unfinished_upload_secs: u64,
}

/// Times after which orphaned files, which nothing in the database needs, are quarantined and
/// removed.
#[derive(Debug, Clone, Copy)]
pub struct OrphansConfig {
    /// Interval of the search for orphaned files, in seconds.
    pub every_secs: u64,
    /// Minimum time for which a file must have been orphaned before it is quarantined, in seconds.
    pub age_secs: u64,
    /// Time for which a file stays in the quarantine, in seconds.
    pub quarantine_secs: u64,
    /// Time for which a file that a user deleted can be restored, in seconds; 0 means never.
    pub deleted_kept_secs: u64,
}

/// Settings of background tasks.
#[derive(Debug, Clone, Copy)]
pub struct TasksConfig {
    /// Maximum number of tasks that one process runs at a time. A user without a running task may
    /// start one above this limit.
    pub workers: usize,
    /// Whether `songfoundry serve` runs tasks itself. `songfoundry worker` can run them instead.
    pub serves_tasks: bool,
    /// Maximum number of attempts at a task.
    pub attempts_max: i64,
    /// Wait before the second attempt, in seconds. It doubles with each further attempt.
    pub retry_secs: u64,
    /// Time for which an attempt counts as alive after its last heartbeat, in seconds.
    pub lost_after_secs: u64,
    /// Maximum number of tasks of one user that wait or run.
    pub unfinished_per_user: i64,
    /// Maximum number of tasks of one user that run in this process at the same time.
    pub running_per_user: usize,
    /// Time for which a finished task is kept, in days.
    pub kept_days: i64,
}

/// Access to `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsAccess {
    /// Local callers and administrators.
    Guarded,
    /// Everybody.
    Open,
    /// Nobody.
    Off,
}

/// Access to the API description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiDocsAccess {
    /// Anybody.
    Open,
    /// Local callers and users with an account.
    Users,
}

/// Folders of this machine outside the storage folder.
#[derive(Debug, Clone)]
pub struct FoldersConfig {
    /// Folders whose audio files administrators may list and import.
    pub media_dirs: Vec<PathBuf>,
    /// Folder for saved files. `None` disables saving.
    pub documents_dir: Option<PathBuf>,
}

/// Filter and format of the log.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// A filter of `tracing`, such as `info`.
    pub filter: String,
    /// Format of log lines.
    pub format: LogFormat,
}

/// All settings of a running service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The kind of deployment.
    pub environment: Environment,
    /// Listening address, HTTPS, proxies and limits on connections.
    pub network: NetworkConfig,
    /// Storage folder, database and stored files.
    pub storage: StorageConfig,
    /// Accounts and tokens.
    pub accounts: AccountsConfig,
    /// SoundFonts and renders.
    pub sound: SoundConfig,
    /// Limits on requests and stored files.
    pub limits: LimitsConfig,
    /// Times after which orphaned files are quarantined and removed.
    pub orphans: OrphansConfig,
    /// Access to `/metrics`.
    pub metrics: MetricsAccess,
    /// Access to the API description.
    pub api_docs: ApiDocsAccess,
    /// Filter and format of the log.
    pub log: LogConfig,
    /// Settings of background tasks.
    pub tasks: TasksConfig,
    /// Language models.
    pub ai: AiConfig,
    /// Folders of this machine that administrators may read and save to.
    pub folders: FoldersConfig,
    /// Plugins.
    pub plugins: PluginsConfig,
    /// Folder of the built page, if one was set or found.
    pub web_dir: Option<PathBuf>,
}

impl Config {
    /// Reads and checks every setting.
    ///
    /// # Errors
    /// The first setting that is missing or invalid, by name.
    pub fn load(source: &Source) -> Result<Self, ConfigError> {
        let environment = match source.choice("SF_ENVIRONMENT")? {
            "container" => Environment::Container,
            _ => Environment::Standalone,
        };
        // There is only one render engine. The check refuses all other values.
        source.choice("SF_RENDER_ENGINE")?;
        let storage = storage::read(source)?;
        Ok(Self {
            environment,
            network: network::read(source)?,
            accounts: accounts::load(source, environment)?,
            sound: sound(source, environment, &storage.dir)?,
            limits: LimitsConfig {
                upload_max_bytes: source.integer("SF_UPLOAD_MAX_BYTES")?,
                soundfont_max_bytes: source.integer("SF_SOUNDFONT_UPLOAD_MAX_BYTES")?,
                project_max_bytes: source.integer("SF_PROJECT_MAX_BYTES")?,
                bundle_max_bytes: source.integer("SF_BUNDLE_MAX_BYTES")?,
                midi_max_bytes: source.integer("SF_MIDI_MAX_BYTES")?,
                bodies_memory_bytes: source.integer("SF_BODIES_MEMORY_BYTES")?,
                tail_max_secs: source.integer("SF_TAIL_MAX_SECS")?,
                projects_quota_bytes: source.integer("SF_PROJECTS_QUOTA_BYTES")?,
                renders_quota_bytes: source.integer("SF_RENDERS_QUOTA_BYTES")?,
                plugin_sounds_quota_bytes: source.integer("SF_PLUGIN_SOUNDS_QUOTA_BYTES")?,
                work_waiting_max: source.integer("SF_WORK_WAITING_MAX")?,
                requests: RequestLimits {
                    per_user_per_minute: source.integer("SF_REQUESTS_PER_MINUTE_PER_USER")?,
                    per_address_per_minute: source.integer("SF_REQUESTS_PER_MINUTE_PER_ADDRESS")?,
                },
                audio: AudioLimits {
                    max_secs: source.integer("SF_AUDIO_MAX_SECS")?,
                    max_channels: source.integer("SF_AUDIO_MAX_CHANNELS")?,
                    quota_bytes: source.integer("SF_AUDIO_QUOTA_BYTES")?,
                    reserve_bytes: source.integer("SF_DISK_RESERVE_BYTES")?,
                    decode_max_secs: source.integer("SF_AUDIO_DECODE_MAX_SECS")?,
                    unfinished_upload_secs: source.integer("SF_UNFINISHED_UPLOAD_SECS")?,
                },
            },
            orphans: OrphansConfig {
                every_secs: source.integer("SF_ORPHANS_EVERY_SECS")?,
                age_secs: source.integer("SF_ORPHAN_AGE_SECS")?,
                quarantine_secs: source.integer("SF_QUARANTINE_DAYS")?.saturating_mul(86_400),
                deleted_kept_secs: source.integer("SF_DELETED_KEPT_SECS")?,
            },
            metrics: match source.choice("SF_METRICS")? {
                "open" => MetricsAccess::Open,
                "off" => MetricsAccess::Off,
                _ => MetricsAccess::Guarded,
            },
            api_docs: match source.choice("SF_API_DOCS")? {
                "users" => ApiDocsAccess::Users,
                _ => ApiDocsAccess::Open,
            },
            log: log(source)?,
            tasks: tasks(source)?,
            ai: ai::load(source)?,
            folders: folders(source, environment)?,
            plugins: plugins::load(source, environment)?,
            web_dir: web_dir(source)?,
            storage,
        })
    }
}

fn sound(source: &Source, environment: Environment, storage_dir: &Path) -> Result<SoundConfig, ConfigError> {
    let instrument_sound = match (source.choice("SF_INSTRUMENT_SOUND")?, environment) {
        ("server", _) | ("auto", Environment::Standalone) => InstrumentSound::Server,
        _ => InstrumentSound::Client,
    };
    let soundfont_dirs = match source.text("SF_SOUNDFONT_DIRS").0 {
        Some(text) => std::env::split_paths(text).filter(|dir| !dir.as_os_str().is_empty()).collect(),
        None => vec![
            PathBuf::from("/usr/share/sounds/sf2"),
            PathBuf::from("/usr/share/sounds/sf3"),
            storage_dir.join("soundfonts"),
        ],
    };
    Ok(SoundConfig {
        instrument_sound,
        soundfont_render: source.switch("SF_SOUNDFONT_RENDER")?,
        soundfont_dirs,
        soundfont_dirs_are_set: source.text("SF_SOUNDFONT_DIRS").0.is_some(),
        default_soundfont: source.text("SF_DEFAULT_SOUNDFONT").0.map(str::to_owned),
        bank_cache_bytes: source.integer("SF_BANK_CACHE_BYTES")?,
        bank_decoded_max_bytes: source.integer("SF_BANK_DECODED_MAX_BYTES")?,
        render_memory_bytes: source.render_memory_bytes()?,
        render_max_secs: source.integer("SF_RENDER_MAX_SECS")?,
        reduced_banks_bytes: source.integer("SF_REDUCED_BANKS_BYTES")?,
    })
}

fn folders(source: &Source, environment: Environment) -> Result<FoldersConfig, ConfigError> {
    let is_desktop = environment == Environment::Standalone;
    let media_dirs = match source.folders("SF_MEDIA_DIRS")? {
        Some(dirs) => dirs,
        None => dirs::audio_dir().filter(|_| is_desktop).into_iter().collect(),
    };
    let documents_dir = match source.text("SF_DOCUMENTS_DIR").0 {
        Some(text) => Some(absolute_path("SF_DOCUMENTS_DIR", PathBuf::from(text))?),
        None => dirs::document_dir().map(|dir| dir.join("Songfoundry")),
    };
    Ok(FoldersConfig { media_dirs, documents_dir: documents_dir.filter(|_| is_desktop) })
}

fn log(source: &Source) -> Result<LogConfig, ConfigError> {
    let filter = source.text("SF_LOG").0.unwrap_or_default();
    if let Err(error) = filter.parse::<tracing_subscriber::EnvFilter>() {
        return Err(invalid("SF_LOG", filter, format!("a tracing filter ({error})")));
    }
    let format = match source.choice("SF_LOG_FORMAT")? {
        "json" => LogFormat::Json,
        _ => LogFormat::Human,
    };
    Ok(LogConfig { filter: filter.to_owned(), format })
}

/// Minimum of the default of `SF_TASK_WORKERS`. A task may take an hour, so the tasks of several
/// users share the processors.
const DEFAULT_WORKERS_MIN: usize = 8;

/// Divisor of `SF_TASK_WORKERS`. The quotient is the default of `SF_TASKS_RUNNING_PER_USER`.
const WORKERS_PER_USER_DIVISOR: usize = 4;

/// Number of threads for each of `SF_TASK_WORKERS`. All but one are reserved for users without a
/// running task. A few users with long tasks thus do not make all others wait.
const THREADS_PER_WORKER: usize = 8;

impl TasksConfig {
    /// Returns the number of threads that run tasks.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.workers.saturating_mul(THREADS_PER_WORKER)
    }
}

fn tasks(source: &Source) -> Result<TasksConfig, ConfigError> {
    let workers = match source.integer("SF_TASK_WORKERS")? {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(DEFAULT_WORKERS_MIN),
        threads => usize::try_from(threads).unwrap_or(1),
    };
    let count =
        |setting_name| source.integer(setting_name).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    Ok(TasksConfig {
        workers,
        serves_tasks: source.switch("SF_SERVE_TASKS")?,
        attempts_max: count("SF_TASK_ATTEMPTS")?,
        retry_secs: source.integer("SF_TASK_RETRY_SECS")?,
        lost_after_secs: source.integer("SF_TASK_LOST_AFTER_SECS")?,
        unfinished_per_user: count("SF_TASKS_UNFINISHED_PER_USER")?,
        running_per_user: match source.integer("SF_TASKS_RUNNING_PER_USER")? {
            0 => (workers / WORKERS_PER_USER_DIVISOR).max(1),
            tasks => usize::try_from(tasks).unwrap_or(usize::MAX),
        },
        kept_days: count("SF_TASKS_KEPT_DAYS")?,
    })
}

fn web_dir(source: &Source) -> Result<Option<PathBuf>, ConfigError> {
    if let Some(text) = source.text("SF_WEB_DIR").0 {
        let dir = PathBuf::from(text);
        let dir = std::path::absolute(&dir)
            .map_err(|error| invalid("SF_WEB_DIR", text, format!("a folder ({error})")))?;
        return Ok(Some(dir));
    }
    let program = std::env::current_exe().ok();
    let program_dirs = program.iter().flat_map(|path| path.ancestors().skip(1));
    let current_dir = std::env::current_dir().ok();
    Ok(program_dirs
        .map(Path::to_path_buf)
        .chain(current_dir)
        .map(|dir| dir.join("web-client/dist"))
        .find(|dir| dir.join("index.html").is_file()))
}

#[cfg(test)]
mod tests;
