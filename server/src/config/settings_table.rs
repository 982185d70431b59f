//! The table of all settings with their defaults, units and ranges.
//!
//! `songfoundry config` prints this table, and [`super::Config::load`] checks values against it, so
//! the output always matches the checks.

use dsp_core::render::MAX_TAIL_SECS;

use super::setting::{DEFAULT_SETTING, Range, Setting};

/// Maximum of `SF_PLUGIN_SCAN_MAX_SECS`, and of the time limit for one module.
pub(crate) const PLUGIN_SCAN_MAX_SECS_MAX: u64 = 600;

const ON_OFF: Range = Range::Choice(&["on", "off"]);

/// All settings, in the order in which they are printed.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "SF_HOST",
        default: "127.0.0.1",
        range: Range::Text("an IP address, or localhost"),
        description: "Address on which the service listens.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PORT",
        default: "8600",
        unit: "port",
        range: Range::Integer(0, 65_535),
        description: "Port on which the service listens; 0 chooses a free port, which is printed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_WORKER_PORT",
        unit: "port",
        default_note: "none: workers do not listen",
        range: Range::Integer(0, 65_535),
        description: "Port on which `songfoundry worker` answers /healthz, /readyz and /metrics over HTTP; 0 chooses a free port, which is printed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TLS_CERT",
        default_note: "none: HTTP",
        range: Range::Text("a PEM file with the service's certificate, then those that signed it"),
        description: "Certificate of HTTPS; reloaded when it changes, or on SIGHUP.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TLS_KEY",
        default_note: "none: HTTP",
        range: Range::Text("a PEM file with the certificate's private key"),
        description: "Private key of HTTPS; reloaded together with the certificate.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_CONNECTION_IDLE_SECS",
        default: "60",
        unit: "seconds",
        range: Range::Integer(1, 3_600),
        description: "How long a connection may be idle, the head of a request may take, or a client may stop reading an answer, before the connection is closed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_CONNECTIONS_MAX",
        default: "4096",
        unit: "connections",
        range: Range::Integer(1, 1_000_000),
        description: "Maximum number of open connections of one process; further connections are closed immediately. The system's limit on open files may lower it.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_CONNECTIONS_PER_ADDRESS",
        default: "512",
        unit: "connections",
        range: Range::Integer(1, 1_000_000),
        description: "Maximum number of open connections from one address; further connections are closed immediately. SF_TRUSTED_PROXIES are exempt.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_ACTIVE_REQUESTS_PER_ACCOUNT",
        default: "128",
        unit: "requests",
        range: Range::Integer(1, 1_000_000),
        description: "Maximum number of active requests of one account, event streams included; further requests get 503 `busy`.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BODY_PAUSE_SECS",
        default: "30",
        unit: "seconds",
        range: Range::Integer(1, 3_600),
        description: "Longest pause while the body of a request arrives.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BODY_MIN_BYTES_PER_SEC",
        default: "1024",
        unit: "bytes per second",
        range: Range::Integer(0, 1 << 30),
        description: "Minimum average rate at which the body of a request must arrive. A body may lag behind it by up to SF_BODY_PAUSE_SECS. 0 means no minimum.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BODY_MAX_SECS",
        default: "300",
        unit: "seconds",
        range: Range::Integer(1, 86_400),
        description: "Longest time for a request body that is kept in memory, such as a project; uploaded files may take longer.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TRUSTED_PROXIES",
        range: Range::Text("IP addresses separated by commas"),
        description: "Proxies whose X-Forwarded-For header is trusted to name the client, only for throttling, rate limits and logs.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_CORS_ORIGINS",
        default_note: "none",
        range: Range::Text("origins such as https://studio.example, separated by commas"),
        description: "Other sites whose pages may call the API, with a token; never as the local administrator.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REQUESTS_PER_MINUTE_PER_USER",
        default: "3000",
        unit: "requests",
        range: Range::Integer(0, 10_000_000),
        description: "Requests of one account per minute and process; an account that was idle may send them all in an instant. 0 means no limit.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REQUESTS_PER_MINUTE_PER_ADDRESS",
        default: "6000",
        unit: "requests",
        range: Range::Integer(0, 10_000_000),
        description: "Requests to the API without a log-in from one address per minute and process; log-ins and callers on this machine do not count. 0 means no limit.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_ENVIRONMENT",
        default: "standalone",
        range: Range::Choice(&["standalone", "container"]),
        description: "Whether this is a desktop or a server deployment.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_STORAGE_DIR",
        default_note: "`songfoundry` in the platform's data folder",
        range: Range::Text("a folder, which is created if missing"),
        description: "Folder for all stored data.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DATABASE_URL",
        default_note: "`songfoundry.db` in the storage folder",
        range: Range::Text("sqlite:<file> or postgres://<user>:<password>@<host>:<port>/<database>"),
        description: "Database of accounts, projects and tasks; PostgreSQL if several processes share it.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DATABASE_CONNECTIONS",
        default: "8",
        unit: "connections",
        range: Range::Integer(4, 200),
        description: "Maximum number of database connections of one process.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DATABASE_WAIT_MS",
        default: "10000",
        unit: "milliseconds",
        range: Range::Integer(10, 600_000),
        description: "Longest wait for a database lock, after which a request gets 503 `database_busy`; the wait for a connection may last 5 s longer.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BLOB_STORE",
        default_note: "`blobs` in the storage folder, for one process",
        range: Range::Text(
            "the absolute path of a folder that all processes share, or s3://<bucket>/<prefix>",
        ),
        description: "Where audio files and renders are kept if several processes share them.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BLOB_CACHE_BYTES",
        default: "10737418240",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Disk space for local copies of files in S3. The least recently used copies are removed first. Copies are also removed until twice SF_DISK_RESERVE_BYTES is free.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_S3_ENDPOINT",
        default_note: "Amazon's address",
        range: Range::Text("an address that begins with https:// or http://"),
        description: "Address of the S3 service.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_S3_REGION",
        default: "us-east-1",
        range: Range::Text("a region"),
        description: "Region of the S3 service.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_S3_ACCESS_KEY_ID",
        default_note: "the role of the machine",
        range: Range::Text("an access key's id"),
        description: "Access key for the S3 service.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_S3_SECRET_ACCESS_KEY",
        range: Range::Text("an access key's secret"),
        description: "Secret of the access key.",
        is_secret: true,
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_WEB_DIR",
        default_note: "`web-client/dist` beside the program, above it, or in the current folder",
        range: Range::Text("a folder with index.html"),
        description: "Folder of the built page.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TRUST_LOCAL",
        default_note: "standalone without SF_TRUSTED_PROXIES: on; otherwise: off",
        range: ON_OFF,
        description: "Whether a request from this machine acts as the administrator without logging in; requests that are recognized as forwarded by a proxy do not.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS",
        default: "100",
        unit: "accounts",
        range: Range::Integer(1, 1_000_000),
        description: "Number of accounts that may fail to log in from one address within an hour. Above it, at most twelve passwords of accounts that never logged in from there are checked at a time, half a second each.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LOGIN_FAILURES_PER_ACCOUNT",
        default: "30",
        unit: "log-ins",
        range: Range::Integer(1, 1_000_000),
        description: "Number of failed log-ins of one account from all addresses within an hour. Above it, its passwords from addresses that it never logged in from are checked one at a time.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REGISTRATIONS_PER_ADDRESS",
        default: "500",
        unit: "registrations",
        range: Range::Integer(1, 1_000_000),
        description: "Number of registrations from one address without a valid invitation within an hour; further registrations must wait.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_JWT_SECRET",
        default_note: "standalone: created at the first start, in the storage folder; container: must be set",
        range: Range::Text("32 characters or more"),
        description: "Key that signs log-in tokens.",
        is_secret: true,
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TOKEN_LIFETIME_SECS",
        default: "43200",
        unit: "seconds",
        range: Range::Integer(60, 2_592_000),
        description: "How long a log-in token is valid.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REGISTRATION",
        default: "closed",
        range: Range::Choice(&["open", "invite", "closed"]),
        description: "Who may create an account: everybody, people with an administrator's invitation, or nobody.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_API_KEYS_MAX",
        default: "20",
        unit: "keys",
        range: Range::Integer(0, 1000),
        description: "Maximum number of API keys that one account may have; 0 allows none.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIT_RETENTION_DAYS",
        default: "365",
        unit: "days",
        range: Range::Integer(1, 36_500),
        description: "How long the log of log-ins, account changes and deletions is kept.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_RENDER_ENGINE",
        default: "bridge",
        range: Range::Choice(&["bridge"]),
        description: "Renderer of plugins: the native helper program.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_INSTRUMENT_SOUND",
        default: "auto",
        range: Range::Choice(&["auto", "server", "client"]),
        description: "Where SoundFont tracks are rendered for playback; auto: server when standalone, client in a container.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_SOUNDFONT_RENDER",
        default: "on",
        range: ON_OFF,
        description: "Whether the service renders notes with SoundFonts.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_SOUNDFONT_DIRS",
        default_note: "/usr/share/sounds/sf2, /usr/share/sounds/sf3 and `soundfonts` in the storage folder",
        range: Range::Text("folders separated as in PATH"),
        description: "Folders that are searched for SoundFonts.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DEFAULT_SOUNDFONT",
        default_note: "a General MIDI bank if one is installed",
        range: Range::Text("a soundfont_id"),
        description: "SoundFont that replaces a missing one.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BANK_CACHE_BYTES",
        default: "419430400",
        unit: "bytes",
        range: Range::Integer(0, 1 << 40),
        description: "Memory for the tables and decoded samples of all open SoundFonts.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BANK_DECODED_MAX_BYTES",
        default: "402653184",
        unit: "bytes",
        range: Range::Integer(1 << 20, 1 << 30),
        description: "Memory for the decoded samples of one SoundFont; a song whose presets need more is refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_WORK_WAITING_MAX",
        default: "512",
        unit: "requests",
        range: Range::Integer(1, 1 << 20),
        description: "Maximum number of requests that wait for each kind of heavy work, such as renders or decoding; further requests get 503.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_RENDER_MEMORY_BYTES",
        default: "471859200",
        unit: "bytes",
        range: Range::Integer(1 << 26, 1 << 40),
        description: "Memory for all renders of a process, without SoundFonts and audio; one song may use four fifths of it.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_RENDER_MAX_SECS",
        default: "3600",
        unit: "seconds",
        range: Range::Integer(1, 7 * 24 * 3_600),
        description: "How long a render may take. From 10 seconds on, a render is also stopped if it is predicted to take more than four times this limit.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REDUCED_BANKS_BYTES",
        default: "1073741824",
        unit: "bytes",
        range: Range::Integer(0, 1 << 40),
        description: "Disk space for SoundFonts reduced to the presets that browsers need; the least recently used are removed first.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASK_WORKERS",
        default: "0",
        unit: "threads",
        range: Range::Integer(0, 64),
        description: "Maximum number of background tasks that one process runs at a time; 0 means one per processor, but at least 8. A user without a running task may start one above this limit; the total is at most eight times the limit.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_SERVE_TASKS",
        default: "on",
        range: ON_OFF,
        description: "Whether `songfoundry serve` runs background tasks itself; with PostgreSQL, `songfoundry worker` can run them instead.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASK_ATTEMPTS",
        default: "3",
        unit: "attempts",
        range: Range::Integer(1, 100),
        description: "Maximum number of attempts at a task that fails because of the service or, with PostgreSQL, is lost with its process. With SQLite, unfinished tasks fail when the service stops; audio imports continue.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASK_RETRY_SECS",
        default: "2",
        unit: "seconds",
        range: Range::Integer(1, 3_600),
        description: "Wait before a task's second attempt; it doubles with each further attempt, up to an hour.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASK_LOST_AFTER_SECS",
        default: "15",
        unit: "seconds",
        range: Range::Integer(3, 3_600),
        description: "How long after its last heartbeat the process of a task counts as dead, with PostgreSQL.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASKS_UNFINISHED_PER_USER",
        default: "256",
        unit: "tasks",
        range: Range::Integer(1, 1_000_000),
        description: "Maximum number of tasks of one user that wait or run; further tasks are refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASKS_RUNNING_PER_USER",
        default: "0",
        unit: "tasks",
        range: Range::Integer(0, 10_000),
        description: "Maximum number of tasks of one user that run in a process at a time; further tasks wait. 0 means a quarter of SF_TASK_WORKERS, at least one.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TASKS_KEPT_DAYS",
        default: "30",
        unit: "days",
        range: Range::Integer(1, 36_500),
        description: "How long a finished task is kept with its result.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 40),
        description: "Largest uploaded file.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_SOUNDFONT_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 31),
        description: "Largest uploaded SoundFont.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PROJECT_MAX_BYTES",
        default: "33554432",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Largest project document.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BUNDLE_MAX_BYTES",
        default: "4294967296",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 40),
        description: "Largest bundle of a project and its audio.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_MIDI_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Largest MIDI file.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BODIES_MEMORY_BYTES",
        default: "134217728",
        unit: "bytes",
        range: Range::Integer(1 << 20, 1 << 40),
        description: "Memory for request bodies, such as projects, until they are read. One user gets at most as much as remains free for others; further bodies get 503.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_TAIL_MAX_SECS",
        default: "60",
        unit: "seconds",
        range: Range::Integer(0, MAX_TAIL_SECS as u64),
        description: "Longest tail that a request may set after the last note of a render.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIO_MAX_SECS",
        default: "21600",
        unit: "seconds",
        range: Range::Integer(1, 86_400),
        description: "Longest audio file, by its decoded length.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIO_MAX_CHANNELS",
        default: "8",
        unit: "channels",
        range: Range::Integer(1, 8),
        description: "Maximum number of channels of an audio file.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIO_QUOTA_BYTES",
        default: "21474836480",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Quota for one user's audio, its decoded copies, and SoundFonts, unless an administrator sets another.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PROJECTS_QUOTA_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Quota for one user's stored project revisions and tasks; a save or task above it is refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_RENDERS_QUOTA_BYTES",
        default: "10737418240",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Quota for one user's finished renders; the oldest are deleted first, the newest always stays.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_SOUNDS_QUOTA_BYTES",
        default: "4294967296",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Quota for the stored sounds of one user's plugins, from which playback and exports read; the least recently used are deleted first and rendered again when they are needed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DISK_RESERVE_BYTES",
        default: "268435456",
        unit: "bytes",
        range: Range::Integer(0, 1 << 50),
        description: "Disk space that uploads and exports must leave free.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIO_DECODE_MAX_SECS",
        default: "900",
        unit: "seconds",
        range: Range::Integer(1, 86_400),
        description: "Longest time that decoding one audio file may take.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_UNFINISHED_UPLOAD_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Integer(1, 2_592_000),
        description: "How long an unfinished resumable upload is kept after its last part.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_ORPHANS_EVERY_SECS",
        default: "3600",
        unit: "seconds",
        range: Range::Integer(10, 2_592_000),
        description: "Interval at which one process searches for files that nothing in the database needs, and quarantines them.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_ORPHAN_AGE_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Integer(60, 31_536_000),
        description: "How long a file must have been unneeded by the database before it is quarantined.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_QUARANTINE_DAYS",
        default: "30",
        unit: "days",
        range: Range::Integer(1, 3_650),
        description: "How long files stay in the quarantine before they are removed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DELETED_KEPT_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Integer(0, 31_536_000),
        description: "How long audio and SoundFonts that users deleted can be restored; 0 means never.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_METRICS",
        default: "guarded",
        range: Range::Choice(&["guarded", "open", "off"]),
        description: "Who may read /metrics: this machine and administrators (guarded), everybody (open), or nobody (off).",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_API_DOCS",
        default: "open",
        range: Range::Choice(&["open", "users"]),
        description: "Who may read the API's description (/api/v1/openapi.json, /api/docs, /api/operations): everybody, or only local callers and requests with a token or an API key. With `users`, a browser on another machine cannot open the pages, because it sends no token; programs can read them.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_UPSTREAM_URL",
        default_note: "no language models",
        range: Range::Text("an address such as https://api.openai.com/v1"),
        description: "Service with the API of OpenAI whose language models users reach through /ai_proxy.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_UPSTREAM_KEY",
        range: Range::Text("a key of the service in SF_AI_UPSTREAM_URL"),
        description: "Key for the language models; it is sent only to the service in SF_AI_UPSTREAM_URL.",
        is_secret: true,
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_MODELS",
        default_note: "all models of the service",
        range: Range::Text("names of models separated by commas"),
        description: "Language models that users may use.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_QUESTION_MAX_BYTES",
        default: "1048576",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Largest request to a language model.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_ANSWER_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Largest answer of a language model.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_TIMEOUT_SECS",
        default: "120",
        unit: "seconds",
        range: Range::Integer(1, 3_600),
        description: "Longest time without data from the language models, before and within an answer, and for their whole list.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_MEDIA_DIRS",
        default_note: "standalone: your music folder; container: none",
        range: Range::Text("absolute paths of folders, separated as in PATH"),
        description: "Folders of the server whose audio files administrators may list and import.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DOCUMENTS_DIR",
        default_note: "standalone: `Songfoundry` in your documents folder; container: none",
        range: Range::Text("the absolute path of a folder, which is created if missing"),
        description: "Folder in which the administrator of a desktop saves files.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_ROOTS",
        default_note: "standalone: everywhere; container: nowhere",
        range: Range::Text("absolute paths of folders, separated as in PATH"),
        description: "Folders in which administrators may add plugin folders; a scan runs the code of the plugins in them.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_SUGGESTED_DIRS",
        default_note: "VST_PATH, VST3_PATH and the usual plugin folders of the system",
        range: Range::Text("absolute paths of folders, separated as in PATH"),
        description: "Folders that are suggested as plugin folders, if they exist. They are scanned only after a user has added them.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_SCAN_MAX_SECS",
        default: "30",
        unit: "seconds",
        range: Range::Integer(1, PLUGIN_SCAN_MAX_SECS_MAX),
        description: "Longest time to scan one plugin module; a module that hangs is ended and left unclassified.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_SCANS_MAX",
        default: "0",
        unit: "modules",
        range: Range::Integer(0, 64),
        description: "Maximum number of plugin modules that one process of the service scans at a time, each in a separate process; 0 means one per processor, but at most 8.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_ANSWER_MAX_SECS",
        default: "30",
        unit: "seconds",
        range: Range::Integer(1, 600),
        description: "Longest time that a hosted plugin may take for one answer, such as loading or a part of the audio; then it is ended.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_MEMORY_MAX_BYTES",
        default: "4294967296",
        unit: "bytes",
        range: Range::Integer(64 << 20, 1 << 40),
        description: "Maximum memory of the process of one hosted plugin.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_HOSTS_MAX",
        default: "8",
        unit: "plugins",
        range: Range::Integer(1, 256),
        description: "Maximum number of plugins that one process of the service hosts at a time, each in a separate process. Others wait.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_HOSTS_PER_USER",
        default: "4",
        unit: "plugins",
        range: Range::Integer(1, 256),
        description: "Maximum number of plugins that one process of the service hosts for one user at a time. Others wait.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LIVE_PLUGINS_MAX",
        default: "16",
        unit: "plugins",
        range: Range::Integer(0, 256),
        description: "Maximum number of plugins that one process of the service runs in real time, each in a separate process. Further ones are refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LIVE_PLUGINS_PER_USER",
        default: "8",
        unit: "plugins",
        range: Range::Integer(0, 256),
        description: "Maximum number of plugins that one process of the service runs in real time for one user. Further ones are refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LIVE_PLUGIN_BLOCK_MAX_MS",
        default: "0",
        unit: "milliseconds",
        range: Range::Integer(0, 10_000),
        description: "Longest time that a block in real time waits for its plugins, before its input is passed on instead; 0 means three quarters of the block, but at most 4.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_WINDOWS_MAX",
        default: "32",
        unit: "windows",
        range: Range::Integer(1, 256),
        description: "Maximum number of plugins' own windows that one process of the service shows at a time, each with a process and an X server of its own. Others are refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_WINDOWS_PER_USER",
        default: "8",
        unit: "windows",
        range: Range::Integer(1, 256),
        description: "Maximum number of plugins' own windows that one process of the service shows to one user at a time. Others are refused.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PLUGIN_WINDOW_IDLE_SECS",
        default: "60",
        unit: "seconds",
        range: Range::Integer(5, 86_400),
        description: "Time without a client after which the window of a plugin is closed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BRIDGE",
        default_note: "`songfoundry-bridge` beside this program",
        range: Range::Text("the path of a program"),
        description: "Program that loads plugins, in separate processes.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DIALOG_BRIDGE",
        default_note: "none: the system's dialogs",
        range: Range::Text("the path of a program"),
        description: "Program of the desktop that is called with `pick-dir` and prints the chosen folder.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DIALOG_MAX_SECS",
        default: "300",
        unit: "seconds",
        range: Range::Integer(5, 3_600),
        description: "Longest time that a folder dialog stays open.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LOG",
        default: "info",
        range: Range::Text("a tracing filter, such as warn or songfoundry_server=debug"),
        description: "Filter of log lines.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_LOG_FORMAT",
        default: "human",
        range: Range::Choice(&["human", "json"]),
        description: "Format of log lines.",
        ..DEFAULT_SETTING
    },
];

/// Returns the setting with this key.
///
/// # Panics
/// If the table has no such setting.
#[must_use]
pub(super) fn setting(setting_name: &str) -> &'static Setting {
    SETTINGS
        .iter()
        .find(|setting| setting.name == setting_name)
        .unwrap_or_else(|| panic!("`{setting_name}` is not in the table of settings"))
}
