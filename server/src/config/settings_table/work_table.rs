//! Settings of SoundFonts, renders and tasks, and limits on stored data.

use dsp_core::render::MAX_TAIL_SECS;

use super::ON_OFF;
use crate::config::setting::{DEFAULT_SETTING, Range, Setting};

/// Settings of SoundFonts, renders and tasks, and limits on stored data.
pub(super) const WORK_SETTINGS: &[Setting] = &[
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
        description: "Program that renders SoundFont tracks for playback: the service (server) or the page (client); auto: server when standalone, client in a container.",
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
        description: "Maximum time of a render. After 10 seconds, a render is also stopped if it is predicted to need more than four times this limit.",
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
        description: "Time after its last heartbeat at which the process of a task counts as dead, with PostgreSQL.",
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
        description: "Time for which a finished task is kept with its result.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 40),
        description: "Maximum size of an uploaded file.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_SOUNDFONT_UPLOAD_MAX_BYTES",
        default: "2147483648",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 31),
        description: "Maximum size of an uploaded SoundFont.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_PROJECT_MAX_BYTES",
        default: "33554432",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Maximum size of a project document.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BUNDLE_MAX_BYTES",
        default: "4294967296",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 40),
        description: "Maximum size of a bundle of a project and its audio.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_MIDI_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Maximum size of a MIDI file.",
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
        description: "Maximum tail that a request may set after the last note of a render.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AUDIO_MAX_SECS",
        default: "21600",
        unit: "seconds",
        range: Range::Integer(1, 86_400),
        description: "Maximum decoded length of an audio file.",
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
        description: "Maximum time to decode one audio file.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_UNFINISHED_UPLOAD_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Integer(1, 2_592_000),
        description: "Time for which an unfinished resumable upload is kept after its last part.",
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
        description: "Time after which a file that the database does not need moves to the quarantine.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_QUARANTINE_DAYS",
        default: "30",
        unit: "days",
        range: Range::Integer(1, 3_650),
        description: "Time for which files stay in the quarantine before they are removed.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_DELETED_KEPT_SECS",
        default: "86400",
        unit: "seconds",
        range: Range::Integer(0, 31_536_000),
        description: "Time for which audio and SoundFonts that users deleted can be restored; with 0, they cannot be restored.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_METRICS",
        default: "guarded",
        range: Range::Choice(&["guarded", "open", "off"]),
        description: "Access to /metrics: this machine and administrators (guarded), everybody (open), or nobody (off).",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_API_DOCS",
        default: "open",
        range: Range::Choice(&["open", "users"]),
        description: "Access to the API's description (/api/v1/openapi.json, /api/docs, /api/operations): everybody, or only local callers and requests with a token or an API key. With `users`, a browser on another machine cannot open the pages, because it sends no token; programs can read them.",
        ..DEFAULT_SETTING
    },
];
