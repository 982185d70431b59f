//! Every setting the service knows: one row each, with default, unit and range.
//!
//! The rows are both the documentation that `songfoundry config` prints and the checks that
//! [`super::Config::load`] applies, so the two cannot disagree.

use dsp_core::render::MAX_TAIL_SECS;

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// A whole number between the two bounds, both included.
    Whole(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text whose form the phrase describes; checked where it is read.
    Text(&'static str),
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name of the environment variable. In `songfoundry.toml` the same name is written in lower
    /// case without `SF_`.
    pub key: &'static str,
    /// Default as text; empty means unset.
    pub default: &'static str,
    /// How the default is described when it is computed rather than fixed.
    pub default_note: &'static str,
    /// Unit of the value; empty for words and text.
    pub unit: &'static str,
    /// Accepted values.
    pub range: Range,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Whether the value must not be shown.
    pub secret: bool,
}

const ON_OFF: Range = Range::Choice(&["on", "off"]);

const BLANK: Setting = Setting {
    key: "",
    default: "",
    default_note: "",
    unit: "",
    range: Range::Text(""),
    about: "",
    secret: false,
};

/// All settings, in the order in which they are printed.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "SF_HOST",
        default: "127.0.0.1",
        range: Range::Text("an IP address, or localhost"),
        about: "Address the service listens on.",
        ..BLANK
    },
    Setting {
        key: "SF_PORT",
        default: "8600",
        unit: "port",
        range: Range::Whole(0, 65_535),
        about: "Port the service listens on; 0 picks a free one and prints it.",
        ..BLANK
    },
    Setting {
        key: "SF_WORKER_PORT",
        unit: "port",
        default_note: "none: it listens nowhere",
        range: Range::Whole(0, 65_535),
        about: "Port on which `songfoundry worker` says how it is (/healthz, /readyz, /metrics), by HTTP; 0 picks a free one and prints it.",
        ..BLANK
    },
    Setting {
        key: "SF_TLS_CERT",
        default_note: "none: HTTP",
        range: Range::Text("a PEM file with the service's certificate, then those that signed it"),
        about: "Certificate of HTTPS; read again when it changes, or on SIGHUP.",
        ..BLANK
    },
    Setting {
        key: "SF_TLS_KEY",
        default_note: "none: HTTP",
        range: Range::Text("a PEM file with the certificate's private key"),
        about: "Private key of HTTPS; read again together with the certificate.",
        ..BLANK
    },
    Setting {
        key: "SF_CONNECTION_IDLE_SECS",
        default: "60",
        unit: "seconds",
        range: Range::Whole(1, 3_600),
        about: "How long a connection may be idle, the head of a request may take, or a client may read nothing of an answer; then it is closed.",
        ..BLANK
    },
    Setting {
        key: "SF_CONNECTIONS_MAX",
        default: "4096",
        unit: "connections",
        range: Range::Whole(1, 1_000_000),
        about: "Open connections of one process; further ones are closed at once. Fewer where the process may open fewer files.",
        ..BLANK
    },
    Setting {
        key: "SF_CONNECTIONS_PER_ADDRESS",
        default: "512",
        unit: "connections",
        range: Range::Whole(1, 1_000_000),
        about: "Open connections from one address; further ones are closed at once. Not for SF_TRUSTED_PROXIES.",
        ..BLANK
    },
    Setting {
        key: "SF_ACTIVE_REQUESTS_PER_ACCOUNT",
        default: "128",
        unit: "requests",
        range: Range::Whole(1, 1_000_000),
        about: "Active requests of one account, event streams included; further ones get 503 `busy`.",
        ..BLANK
    },
    Setting {
        key: "SF_BODY_PAUSE_SECS",
        default: "30",
        unit: "seconds",
        range: Range::Whole(1, 3_600),
        about: "Longest pause in the body of a request.",
        ..BLANK
    },
    Setting {
        key: "SF_BODY_MIN_BYTES_PER_SEC",
        default: "1024",
        unit: "bytes per second",
        range: Range::Whole(0, 1 << 30),
        about: "Smallest rate at which the body of a request must come, beyond one longest pause. 0: none.",
        ..BLANK
    },
    Setting {
        key: "SF_BODY_MAX_SECS",
        default: "300",
        unit: "seconds",
        range: Range::Whole(1, 86_400),
        about: "Longest time for the whole body of a request that is held in memory, such as a project; uploaded files may take longer.",
        ..BLANK
    },
    Setting {
        key: "SF_TRUSTED_PROXIES",
        range: Range::Text("IP addresses separated by commas"),
        about: "Proxies whose X-Forwarded-For names the client, for throttling, rate limits and logs only.",
        ..BLANK
    },
    Setting {
        key: "SF_CORS_ORIGINS",
        default_note: "none",
        range: Range::Text("origins such as https://studio.example, separated by commas"),
        about: "Other sites whose pages may call the API, with a token; never as the local administrator.",
        ..BLANK
    },
    Setting {
        key: "SF_REQUESTS_PER_MINUTE_PER_USER",
        default: "3000",
        unit: "requests",
        range: Range::Whole(0, 10_000_000),
        about: "Requests of one account per minute and process; as many at once after a rest. 0: no limit.",
        ..BLANK
    },
    Setting {
        key: "SF_REQUESTS_PER_MINUTE_PER_ADDRESS",
        default: "6000",
        unit: "requests",
        range: Range::Whole(0, 10_000_000),
        about: "Requests to the API without a log-in from one address per minute and process; not from this machine, and not to log in. 0: no limit.",
        ..BLANK
    },
    Setting {
        key: "SF_ENVIRONMENT",
        default: "standalone",
        range: Range::Choice(&["standalone", "container"]),
        about: "Whether this is a desktop or a server deployment.",
        ..BLANK
    },
    Setting {
        key: "SF_STORAGE_DIR",
        default_note: "`songfoundry` in the platform's data folder",
        range: Range::Text("a folder; made if missing"),
        about: "Folder of everything that is stored.",
        ..BLANK
    },
    Setting {
        key: "SF_DATABASE_URL",
        default_note: "`songfoundry.db` in the storage folder",
        range: Range::Text("sqlite:<file> or postgres://<user>:<password>@<host>:<port>/<database>"),
        about: "Database of accounts, projects and tasks; PostgreSQL where several processes share it.",
        ..BLANK
    },
    Setting {
        key: "SF_DATABASE_CONNECTIONS",
        default: "8",
        unit: "connections",
        range: Range::Whole(4, 200),
        about: "Connections to the database that one process keeps at most.",
        ..BLANK
    },
    Setting {
        key: "SF_DATABASE_WAIT_MS",
        default: "10000",
        unit: "milliseconds",
        range: Range::Whole(10, 600_000),
        about: "Longest wait for a lock in the database; a connection is waited for 5 s longer. Then a request is answered 503 `database_busy`.",
        ..BLANK
    },
    Setting {
        key: "SF_BLOB_STORE",
        default_note: "`blobs` in the storage folder, for one process",
        range: Range::Text("the whole path of a folder that all processes share, or s3://<bucket>/<prefix>"),
        about: "Where audio files and renders are kept if several processes share them.",
        ..BLANK
    },
    Setting {
        key: "SF_BLOB_CACHE_BYTES",
        default: "10737418240",
        unit: "bytes",
        range: Range::Whole(0, 1 << 50),
        about: "Disk space for local copies of what is in S3; the longest unused go first.",
        ..BLANK
    },
    Setting {
        key: "SF_S3_ENDPOINT",
        default_note: "Amazon's",
        range: Range::Text("an address that begins with https:// or http://"),
        about: "Address of the S3 service.",
        ..BLANK
    },
    Setting {
        key: "SF_S3_REGION",
        default: "us-east-1",
        range: Range::Text("a region"),
        about: "Region of the S3 service.",
        ..BLANK
    },
    Setting {
        key: "SF_S3_ACCESS_KEY_ID",
        default_note: "the role of the machine",
        range: Range::Text("an access key's id"),
        about: "Access key for the S3 service.",
        ..BLANK
    },
    Setting {
        key: "SF_S3_SECRET_ACCESS_KEY",
        range: Range::Text("an access key's secret"),
        about: "Secret of the access key.",
        secret: true,
        ..BLANK
    },
    Setting {
        key: "SF_WEB_DIR",
        default_note: "`web-client/dist` beside the program, above it, or in the current folder",
        range: Range::Text("a folder with index.html"),
        about: "Folder of the built page.",
        ..BLANK
    },
    Setting {
        key: "SF_TRUST_LOCAL",
        default_note: "standalone without SF_TRUSTED_PROXIES: on; otherwise: off",
        range: ON_OFF,
        about: "Whether a request from this machine counts as the administrator without logging in; never one that a proxy passed on.",
        ..BLANK
    },
    Setting {
        key: "SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS",
        default: "100",
        unit: "accounts",
        range: Range::Whole(1, 1_000_000),
        about: "Accounts that may fail to log in from one address within an hour; then the passwords of accounts that never logged in from there are checked twelve at a time, half a second each.",
        ..BLANK
    },
    Setting {
        key: "SF_LOGIN_FAILURES_PER_ACCOUNT",
        default: "30",
        unit: "log-ins",
        range: Range::Whole(1, 1_000_000),
        about: "Failed log-ins of one account from all addresses within an hour; then its passwords from addresses that it never logged in from are checked one after the other.",
        ..BLANK
    },
    Setting {
        key: "SF_REGISTRATIONS_PER_ADDRESS",
        default: "500",
        unit: "registrations",
        range: Range::Whole(1, 1_000_000),
        about: "Registrations from one address without a good invitation within an hour; then further ones wait.",
        ..BLANK
    },
    Setting {
        key: "SF_JWT_SECRET",
        default_note: "standalone: made on first start and kept in the storage folder; container: must be set",
        range: Range::Text("32 characters or more"),
        about: "Key that signs log-in tokens.",
        secret: true,
        ..BLANK
    },
    Setting {
        key: "SF_TOKEN_LIFETIME_SECS",
        default: "43200",
        unit: "seconds",
        range: Range::Whole(60, 2_592_000),
        about: "How long a log-in token is good for.",
        ..BLANK
    },
    Setting {
        key: "SF_REGISTRATION",
        default: "closed",
        range: Range::Choice(&["open", "invite", "closed"]),
        about: "Who may make an account: anybody, whoever an administrator invites, or nobody.",
        ..BLANK
    },
    Setting {
        key: "SF_API_KEYS_MAX",
        default: "20",
        unit: "keys",
        range: Range::Whole(0, 1000),
        about: "Most API keys that one account may have; 0 allows none.",
        ..BLANK
    },
    Setting {
        key: "SF_AUDIT_RETENTION_DAYS",
        default: "365",
        unit: "days",
        range: Range::Whole(1, 36_500),
        about: "How long the log of log-ins, account changes and deletions is kept.",
        ..BLANK
    },
    Setting {
        key: "SF_RENDER_ENGINE",
        default: "bridge",
        range: Range::Choice(&["bridge"]),
        about: "What renders plugins: the native helper program.",
        ..BLANK
    },
    Setting {
        key: "SF_INSTRUMENT_SOUND",
        default: "auto",
        range: Range::Choice(&["auto", "server", "client"]),
        about: "Where the arrangement's SoundFont tracks sound; auto: server when standalone, client in a container.",
        ..BLANK
    },
    Setting {
        key: "SF_SOUNDFONT_RENDER",
        default: "on",
        range: ON_OFF,
        about: "Whether the service renders notes with SoundFonts.",
        ..BLANK
    },
    Setting {
        key: "SF_SOUNDFONT_DIRS",
        default_note: "/usr/share/sounds/sf2, /usr/share/sounds/sf3 and `soundfonts` in the storage folder",
        range: Range::Text("folders separated as in PATH"),
        about: "Folders that are searched for SoundFonts.",
        ..BLANK
    },
    Setting {
        key: "SF_DEFAULT_SOUNDFONT",
        default_note: "a General MIDI bank if one is installed",
        range: Range::Text("a soundfont_id"),
        about: "SoundFont that stands in when the one asked for is missing.",
        ..BLANK
    },
    Setting {
        key: "SF_BANK_CACHE_BYTES",
        default: "419430400",
        unit: "bytes",
        range: Range::Whole(0, 1 << 40),
        about: "Memory for SoundFonts: tables and decoded samples of those that are played and of those that are kept.",
        ..BLANK
    },
    Setting {
        key: "SF_BANK_DECODED_MAX_BYTES",
        default: "402653184",
        unit: "bytes",
        range: Range::Whole(1 << 20, 1 << 30),
        about: "Memory for the decoded samples of one SoundFont; one that needs more for the presets of a song is refused.",
        ..BLANK
    },
    Setting {
        key: "SF_WORK_WAITING_MAX",
        default: "512",
        unit: "requests",
        range: Range::Whole(1, 1 << 20),
        about: "Requests that may wait for each kind of heavy work, such as renders or decoding; others get 503.",
        ..BLANK
    },
    Setting {
        key: "SF_RENDER_MEMORY_BYTES",
        default: "471859200",
        unit: "bytes",
        range: Range::Whole(1 << 26, 1 << 40),
        about: "Memory of all renders of a process together, beside SoundFonts and audio; a song may need four fifths of it.",
        ..BLANK
    },
    Setting {
        key: "SF_RENDER_MAX_SECS",
        default: "3600",
        unit: "seconds",
        range: Range::Whole(1, 7 * 24 * 3_600),
        about: "How long a render may take; one whose speed says that it takes four times as long ends after 10 seconds.",
        ..BLANK
    },
    Setting {
        key: "SF_REDUCED_BANKS_BYTES",
        default: "1073741824",
        unit: "bytes",
        range: Range::Whole(0, 1 << 40),
        about: "Disk space for SoundFonts reduced to what browsers asked for; the longest unused go first.",
        ..BLANK
    },
    Setting {
        key: "SF_TASK_WORKERS",
        default: "0",
        unit: "threads",
        range: Range::Whole(0, 64),
        about: "Threads of one process that run background tasks; 0 means one for each processor, and at least 8.",
        ..BLANK
    },
    Setting {
        key: "SF_SERVE_TASKS",
        default: "on",
        range: ON_OFF,
        about: "Whether `songfoundry serve` runs background tasks itself; with PostgreSQL, `songfoundry worker` can instead.",
        ..BLANK
    },
    Setting {
        key: "SF_TASK_ATTEMPTS",
        default: "3",
        unit: "attempts",
        range: Range::Whole(1, 100),
        about: "How often a task is tried that fails by no fault of its own, or is lost with its process.",
        ..BLANK
    },
    Setting {
        key: "SF_TASK_RETRY_SECS",
        default: "2",
        unit: "seconds",
        range: Range::Whole(1, 3_600),
        about: "Wait before a task's second attempt; it doubles with each further one, up to an hour.",
        ..BLANK
    },
    Setting {
        key: "SF_TASK_LOST_AFTER_SECS",
        default: "15",
        unit: "seconds",
        range: Range::Whole(3, 3_600),
        about: "With PostgreSQL: how long after its last sign of life a task's process counts as gone.",
        ..BLANK
    },
    Setting {
        key: "SF_TASKS_UNFINISHED_PER_USER",
        default: "256",
        unit: "tasks",
        range: Range::Whole(1, 1_000_000),
        about: "Tasks of one user that may wait or run; more are refused.",
        ..BLANK
    },
    Setting {
        key: "SF_TASKS_RUNNING_PER_USER",
        default: "0",
        unit: "tasks",
        range: Range::Whole(0, 10_000),
        about: "Tasks of one user that run in a process at a time; the others wait. 0 means a quarter of SF_TASK_WORKERS, one at least.",
        ..BLANK
    },
    Setting {
        key: "SF_TASKS_KEPT_DAYS",
        default: "30",
        unit: "days",
        range: Range::Whole(1, 36_500),
        about: "How long a finished task is kept with its result.",
        ..BLANK
    },
    Setting {
        key: "SF_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 40),
        about: "Largest uploaded file.",
        ..BLANK
    },
    Setting {
        key: "SF_SOUNDFONT_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 31),
        about: "Largest uploaded SoundFont.",
        ..BLANK
    },
    Setting {
        key: "SF_PROJECT_MAX_BYTES",
        default: "33554432",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 30),
        about: "Largest project document.",
        ..BLANK
    },
    Setting {
        key: "SF_BUNDLE_MAX_BYTES",
        default: "4294967296",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 40),
        about: "Largest bundle of a project and its audio.",
        ..BLANK
    },
    Setting {
        key: "SF_MIDI_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 30),
        about: "Largest MIDI file.",
        ..BLANK
    },
    Setting {
        key: "SF_BODIES_MEMORY_BYTES",
        default: "134217728",
        unit: "bytes",
        range: Range::Whole(1 << 20, 1 << 40),
        about: "Memory for bodies of requests, such as projects, while they come. One user gets at most as much as remains free; further bodies get 503.",
        ..BLANK
    },
    Setting {
        key: "SF_TAIL_MAX_SECS",
        default: "60",
        unit: "seconds",
        range: Range::Whole(0, MAX_TAIL_SECS as u64),
        about: "Longest tail that may be asked for after the last note of a render.",
        ..BLANK
    },
    Setting {
        key: "SF_AUDIO_MAX_SECS",
        default: "21600",
        unit: "seconds",
        range: Range::Whole(1, 86_400),
        about: "Longest audio file, by its decoded length.",
        ..BLANK
    },
    Setting {
        key: "SF_AUDIO_MAX_CHANNELS",
        default: "8",
        unit: "channels",
        range: Range::Whole(1, 8),
        about: "Most channels of an audio file.",
        ..BLANK
    },
    Setting {
        key: "SF_AUDIO_QUOTA_BYTES",
        default: "21474836480",
        unit: "bytes",
        range: Range::Whole(0, 1 << 50),
        about: "What one user may store in audio, decoded copies included, and in SoundFonts, unless an administrator says otherwise.",
        ..BLANK
    },
    Setting {
        key: "SF_PROJECTS_QUOTA_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Whole(0, 1 << 50),
        about: "What the kept revisions of one user's projects and the user's tasks may take; a save or task beyond is refused.",
        ..BLANK
    },
    Setting {
        key: "SF_RENDERS_QUOTA_BYTES",
        default: "10737418240",
        unit: "bytes",
        range: Range::Whole(0, 1 << 50),
        about: "What one user's finished renders may take; the oldest make room for the newest, which stays however large it is.",
        ..BLANK
    },
    Setting {
        key: "SF_DISK_RESERVE_BYTES",
        default: "268435456",
        unit: "bytes",
        range: Range::Whole(0, 1 << 50),
        about: "Disk space that uploads leave free for everything else.",
        ..BLANK
    },
    Setting {
        key: "SF_AUDIO_DECODE_MAX_SECS",
        default: "900",
        unit: "seconds",
        range: Range::Whole(1, 86_400),
        about: "Longest time that decoding one audio file may take.",
        ..BLANK
    },
    Setting {
        key: "SF_UNFINISHED_UPLOAD_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Whole(1, 2_592_000),
        about: "How long an unfinished resumable upload is kept after its last part.",
        ..BLANK
    },
    Setting {
        key: "SF_ORPHANS_EVERY_SECS",
        default: "3600",
        unit: "seconds",
        range: Range::Whole(10, 2_592_000),
        about: "How often stored files that belong to nothing are looked for and set aside, by one process for all.",
        ..BLANK
    },
    Setting {
        key: "SF_ORPHAN_AGE_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Whole(60, 31_536_000),
        about: "How long no row of the database must have needed a stored file before it moves to the quarantine.",
        ..BLANK
    },
    Setting {
        key: "SF_QUARANTINE_DAYS",
        default: "30",
        unit: "days",
        range: Range::Whole(1, 3_650),
        about: "How long files stay in the quarantine before they are removed.",
        ..BLANK
    },
    Setting {
        key: "SF_DELETED_KEPT_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Whole(0, 31_536_000),
        about: "How long audio and SoundFonts that users deleted can come back; 0: not at all.",
        ..BLANK
    },
    Setting {
        key: "SF_METRICS",
        default: "guarded",
        range: Range::Choice(&["guarded", "open", "off"]),
        about: "Who may read /metrics: this machine and administrators, anybody, or nobody.",
        ..BLANK
    },
    Setting {
        key: "SF_API_DOCS",
        default: "open",
        range: Range::Choice(&["open", "users"]),
        about: "Who may read the API's description (/api/v1/openapi.json, /api/docs, /api/operations): anybody, or requests with a token or an API key. A browser sends neither with an address, so `users` leaves the description to programs.",
        ..BLANK
    },
    Setting {
        key: "SF_AI_UPSTREAM_URL",
        default_note: "no language models",
        range: Range::Text("an address such as https://api.openai.com/v1"),
        about: "Service whose language models users may ask through /ai_proxy; it speaks the API of OpenAI.",
        ..BLANK
    },
    Setting {
        key: "SF_AI_UPSTREAM_KEY",
        range: Range::Text("a key of that service"),
        about: "Key for the language models; it never leaves the server but to them.",
        secret: true,
        ..BLANK
    },
    Setting {
        key: "SF_AI_MODELS",
        default_note: "all that the service has",
        range: Range::Text("names of models separated by commas"),
        about: "Language models that users may ask.",
        ..BLANK
    },
    Setting {
        key: "SF_AI_QUESTION_MAX_BYTES",
        default: "1048576",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 30),
        about: "Largest request to a language model.",
        ..BLANK
    },
    Setting {
        key: "SF_AI_ANSWER_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Whole(1024, 1 << 30),
        about: "Largest answer of a language model.",
        ..BLANK
    },
    Setting {
        key: "SF_AI_TIMEOUT_SECS",
        default: "120",
        unit: "seconds",
        range: Range::Whole(1, 3_600),
        about: "Longest silence of the service with the language models, before its answer and within it.",
        ..BLANK
    },
    Setting {
        key: "SF_MEDIA_DIRS",
        default_note: "standalone: your music folder; container: none",
        range: Range::Text("whole paths of folders, separated as in PATH"),
        about: "Folders whose audio files administrators may list and import without sending them.",
        ..BLANK
    },
    Setting {
        key: "SF_DOCUMENTS_DIR",
        default_note: "standalone: `Songfoundry` in your documents folder; container: none",
        range: Range::Text("the whole path of a folder; made if missing"),
        about: "Folder in which a desktop saves files for its administrator.",
        ..BLANK
    },
    Setting {
        key: "SF_PLUGIN_ROOTS",
        default_note: "standalone: everywhere; container: nowhere",
        range: Range::Text("whole paths of folders, separated as in PATH"),
        about: "Folders below which administrators may add folders of plugins; the code in them is run.",
        ..BLANK
    },
    Setting {
        key: "SF_PLUGIN_SCAN_MAX_SECS",
        default: "30",
        unit: "seconds",
        range: Range::Whole(1, 600),
        about: "Longest time that looking into one plugin module may take; what hangs is ended and left unclassified.",
        ..BLANK
    },
    Setting {
        key: "SF_BRIDGE",
        default_note: "`songfoundry-bridge` beside this program",
        range: Range::Text("the path of a program"),
        about: "Program that loads plugins, in processes of its own.",
        ..BLANK
    },
    Setting {
        key: "SF_DIALOG_BRIDGE",
        default_note: "none: the system's dialogs",
        range: Range::Text("the path of a program"),
        about: "Program of the desktop that is called with `pick-dir` and prints the folder that somebody chose.",
        ..BLANK
    },
    Setting {
        key: "SF_DIALOG_MAX_SECS",
        default: "300",
        unit: "seconds",
        range: Range::Whole(5, 3_600),
        about: "Longest time that a folder dialog stays open.",
        ..BLANK
    },
    Setting {
        key: "SF_LOG",
        default: "info",
        range: Range::Text("a tracing filter, such as warn or songfoundry_server=debug"),
        about: "What is logged.",
        ..BLANK
    },
    Setting {
        key: "SF_LOG_FORMAT",
        default: "human",
        range: Range::Choice(&["human", "json"]),
        about: "How log lines are written.",
        ..BLANK
    },
];

/// The row of `key`.
///
/// # Panics
/// When there is no such row: the reader asked for a setting that was never declared.
#[must_use]
pub(super) fn setting(key: &str) -> &'static Setting {
    SETTINGS
        .iter()
        .find(|row| row.key == key)
        .unwrap_or_else(|| panic!("`{key}` is not in the table of settings"))
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(min, max) => write!(f, "{min} to {max}"),
            Self::Choice(words) => f.write_str(&words.join(" | ")),
            Self::Text(form) => f.write_str(form),
        }
    }
}
