//! The state that all handlers share.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use crate::active_requests::ActiveRequests;
use crate::ai_proxy::AiProxy;
use crate::audio::{self, Audio};
use crate::auth::passwords::Passwords;
use crate::auth::{LocalRule, Throttle, Tokens};
use crate::clock;
use crate::config::{BlobStore, Config, StorageConfig};
use crate::db::{self, Db, Reserve};
use crate::exports::{self, Exports};
use crate::fair_bytes::FairBytes;
use crate::held_answers;
use crate::held_body::BodyMemory;
use crate::helper_processes::Helpers;
use crate::installation;
use crate::large_answer::LargeAnswers;
use crate::live_effects::LiveEffects;
use crate::metrics::Metrics;
use crate::monitoring::LastMeasurement;
use crate::page::PageFiles;
use crate::permits::Permits;
use crate::plugin_hosts::PluginHosts;
use crate::plugin_parameters::PluginParameters;
use crate::plugin_windows::PluginWindows;
use crate::plugins::{self, Picker, Plugins};
use crate::project_archives::ArchiveLimits;
use crate::projects::{self, OnSaved};
use crate::rate_limits::RateLimits;
use crate::searches;
use crate::soundfonts::{self, SoundFonts};
use crate::storage::{Blobs, DocumentBytes, DocumentQuota, Remote, Sharing, Storage, UsedBytes};
use crate::storage_lock::StorageLock;
use crate::tasks::{self, Kinds, Tasks};

/// The services that handlers use. A slice that keeps state in memory, such as a cache, adds it
/// here as a field and opens it in [`AppState::open`].
#[derive(Debug)]
pub struct Services {
    /// Settings of the service.
    pub config: Config,
    /// Database.
    pub db: Db,
    /// Stored files.
    pub blobs: Blobs,
    /// Quotas of users' files, and free disk space for them.
    pub(crate) storage: Storage,
    /// Quota of the users' projects and tasks.
    pub(crate) document_quota: DocumentQuota,
    /// Callback that runs after a project or the autosave was stored.
    pub(crate) project_saved: OnSaved,
    /// Issues and checks log-in tokens.
    pub tokens: Tokens,
    /// Hashes and checks passwords.
    pub passwords: Passwords,
    /// Limits failed log-ins.
    pub throttle: Throttle,
    /// Rule that decides whether a caller is local.
    pub local_rule: LocalRule,
    /// SoundFonts of the system and of users.
    pub soundfonts: SoundFonts,
    /// Memory budget, time limits and permits of renders.
    pub exports: Exports,
    /// Plugins of users.
    pub plugins: Plugins,
    /// Hosts plugins.
    pub plugin_hosts: PluginHosts,
    /// Lists the parameters of plugins.
    pub plugin_parameters: PluginParameters,
    /// Shows the own windows of plugins.
    pub plugin_windows: PluginWindows,
    /// Effects that process the master mixes of clients in real time.
    pub live_effects: LiveEffects,
    /// Shows folder dialogs on this machine's screen.
    pub(crate) picker: Picker,
    /// Decoding and inspection of audio files.
    pub audio: Audio,
    /// Metrics for monitoring.
    pub metrics: Metrics,
    /// Time when the sizes for the metrics were last measured.
    pub(crate) storage_sums: LastMeasurement,
    /// Time when this process started.
    pub start_time: StartTime,
    /// Rate limits of requests.
    pub rate_limits: RateLimits,
    /// Counts and limits active requests.
    pub(crate) active_requests: ActiveRequests,
    /// Cached files of the web page.
    pub(crate) page_files: PageFiles,
    /// Reserved disk space that deletions use when the disk is full.
    pub reserve: Reserve,
    /// Budgets of memory and disk space for bodies of requests.
    pub(crate) body_memory: BodyMemory,
    /// Memory budget for project documents that are being stored.
    pub(crate) storing: FairBytes,
    /// Limits imports and exports of archives of projects.
    pub(crate) archives: ArchiveLimits,
    /// Limits searches in lists.
    pub(crate) searches: Permits,
    /// Memory budget for answers that wait for their clients.
    pub(crate) held_answers: FairBytes,
    /// Budgets of disk space and memory for large answers.
    pub(crate) large_answers: LargeAnswers,
    /// Background tasks.
    pub tasks: Tasks,
    /// Proxy to the language models.
    pub ai_proxy: AiProxy,
    /// Running helper processes.
    pub helpers: Helpers,
    /// Cancelled when the service stops. Long answers and background loops end then.
    pub stop: CancellationToken,
    /// Held as long as this process uses the storage folder.
    _storage_lock: StorageLock,
}

/// Functions that return how many bytes of a slice's files count towards a user's storage quota.
const COUNTED: &[UsedBytes] = &[
    |db, owner_id| Box::pin(audio::read_used_bytes(db, owner_id)),
    |db, owner_id| Box::pin(soundfonts::read_used_bytes(db, owner_id)),
];

/// Functions that return how many bytes of a slice's documents count towards a user's project
/// quota.
const DOCUMENTS: &[DocumentBytes] = &[
    |connection, owner_id| Box::pin(projects::count_revision_bytes(connection, owner_id)),
    |connection, owner_id| Box::pin(tasks::stored_bytes(connection, owner_id)),
];

/// All kinds of tasks.
pub(crate) const KINDS: Kinds = Kinds(&[
    &exports::RENDER,
    &exports::AUDIO_EXPORT,
    &audio::ANALYSIS_TASK,
    &audio::IMPORT_TASK,
    &audio::PROCESSING_TASK,
    &exports::MIXDOWN,
    &exports::STEMS,
    &exports::FREEZE,
    &plugins::SCAN_TASK,
    #[cfg(test)]
    &tasks::tests::CLOSURE,
]);

/// Start time of a process, in two forms.
#[derive(Debug)]
pub struct StartTime {
    /// Start time as text, RFC 3339.
    pub timestamp: String,
    /// Start time for measuring durations.
    pub instant: Instant,
}

impl StartTime {
    fn now() -> Self {
        Self { timestamp: clock::now_text(), instant: Instant::now() }
    }
}

/// Shared reference to the services.
#[derive(Debug, Clone)]
pub struct AppState(Arc<Services>);

impl Deref for AppState {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0
    }
}

impl AppState {
    /// Ends the work that an account's requests wait for, because the account has been disabled.
    pub(crate) fn end_work_of(&self, user_id: &str) {
        let ArchiveLimits { imports, exports, .. } = &self.archives;
        let lists = &self.plugin_parameters.permits;
        for permits in [&*self.exports.renders, &self.audio.decoding, imports, exports, lists] {
            permits.end_work_of(user_id);
        }
    }

    /// Opens all parts of the service, such as the storage folder, the database, the keys and the
    /// threads.
    ///
    /// # Errors
    /// A part cannot be opened, which the error names, or another process uses the storage folder.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        let dir = &config.storage.dir;
        make_private_dir(dir).context("cannot use SF_STORAGE_DIR")?;
        let storage_lock = StorageLock::acquire(dir)?;
        let blobs = open_blobs(&config.storage, Sharing::Exclusive).await?;
        installation::refuse_missing_database(&config.storage, &blobs).await?;
        let db = db::open(&config.storage.database, config.storage.database_limits).await?;
        installation::claim(&config.storage, &db, &blobs).await?;
        let helpers = Helpers::default();
        let document_quota = DocumentQuota::new(config.limits.projects_quota_bytes, DOCUMENTS);
        let services = Arc::new(Services {
            tokens: Tokens::open(&config.accounts, dir)?,
            throttle: Throttle::new(config.accounts.login_limits),
            local_rule: LocalRule::new(&config),
            passwords: Passwords::new(config.limits.work_waiting_max)?,
            tasks: Tasks::open(db.clone(), &config.storage, config.tasks, document_quota, KINDS).await?,
            document_quota,
            project_saved: |state, owner_id, text| Box::pin(audio::restore_named(state, owner_id, text)),
            soundfonts: SoundFonts::new(&config, &db, plugins::soundfont_files(&config)),
            exports: Exports::new(&config),
            body_memory: BodyMemory::new(
                config.limits.bodies_memory_bytes,
                dir,
                config.limits.audio.reserve_bytes,
            ),
            storing: projects::storing_budget(),
            archives: ArchiveLimits::new(config.limits.work_waiting_max),
            live_effects: LiveEffects::default(),
            searches: searches::limit(config.storage.database_limits.connections_max),
            held_answers: held_answers::budget(),
            large_answers: LargeAnswers::default(),
            reserve: Reserve::open(&config.storage.database),
            plugins: Plugins::new(&config, &db, &helpers),
            plugin_hosts: PluginHosts::new(&config, &helpers),
            plugin_parameters: PluginParameters::new(&config),
            plugin_windows: PluginWindows::new(&config.plugins),
            picker: Picker::new(&config.plugins, &helpers),
            metrics: Metrics::default(),
            storage_sums: LastMeasurement::default(),
            start_time: StartTime::now(),
            rate_limits: RateLimits::new(config.limits.requests),
            active_requests: ActiveRequests::new(
                &config.network.connections,
                config.storage.database_limits.connections_max,
            ),
            page_files: PageFiles::default(),
            ai_proxy: AiProxy::new(config.ai.upstream.as_ref())
                .context("cannot set up the client for language models")?,
            audio: Audio::new(&helpers, config.limits.work_waiting_max)
                .context("cannot find the program that decodes audio")?,
            helpers,
            storage: Storage::new(COUNTED, audio::make_room),
            stop: CancellationToken::new(),
            blobs,
            db,
            config,
            _storage_lock: storage_lock,
        });
        services.tasks.attach(Arc::downgrade(&services));
        Ok(Self(services))
    }
}

impl From<Arc<Services>> for AppState {
    fn from(services: Arc<Services>) -> Self {
        Self(services)
    }
}

/// Opens the store of files. `sharing` says whether other processes use the storage folder.
pub(crate) async fn open_blobs(storage: &StorageConfig, sharing: Sharing) -> anyhow::Result<Blobs> {
    let local_dir = storage.dir.join("blobs");
    let cannot_use = |dir: &Path, setting| format!("cannot use the folder {} ({setting})", dir.display());
    match &storage.blobs {
        BlobStore::Local => {
            Blobs::open(local_dir.clone(), sharing).with_context(|| cannot_use(&local_dir, "SF_STORAGE_DIR"))
        }
        BlobStore::SharedFolder(dir) => {
            let blobs_result = Blobs::open(dir.clone(), Sharing::Shared);
            let blobs = blobs_result.with_context(|| cannot_use(dir, "SF_BLOB_STORE"))?;
            Ok(blobs.with_quarantine_inside())
        }
        BlobStore::S3(s3) => {
            let remote_storage = Remote::open(s3).await.with_context(|| {
                format!("cannot use the bucket s3://{}/{} (SF_BLOB_STORE)", s3.bucket, s3.prefix)
            })?;
            Blobs::open_remote(
                local_dir.clone(),
                remote_storage,
                s3.cache_bytes,
                s3.disk_reserve_bytes,
                sharing,
            )
            .with_context(|| cannot_use(&local_dir, "SF_STORAGE_DIR"))
        }
    }
}

/// Creates a folder if it does not exist. Only the user of this process can read a new folder.
pub(crate) fn make_private_dir(dir: &Path) -> anyhow::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir).with_context(|| format!("cannot create the folder {}", dir.display()))
}
