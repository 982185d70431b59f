//! Settings of language models, folders, plugins and the log.

use super::PLUGIN_SCAN_MAX_SECS_MAX;
use crate::config::setting::{DEFAULT_SETTING, Range, Setting};

/// Settings of language models, folders, plugins and the log.
pub(super) const EXTENSION_SETTINGS: &[Setting] = &[
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
        description: "Maximum size of a request to a language model.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_ANSWER_MAX_BYTES",
        default: "16777216",
        unit: "bytes",
        range: Range::Integer(1024, 1 << 30),
        description: "Maximum size of an answer of a language model.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_AI_TIMEOUT_SECS",
        default: "120",
        unit: "seconds",
        range: Range::Integer(1, 3_600),
        description: "Maximum time without data from the language models, before and within an answer, and maximum time for the list of all models.",
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
        description: "Maximum time to scan one plugin module; a module that hangs is ended and left unclassified.",
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
        description: "Maximum time of one answer of a hosted plugin, for example to load or to process a part of the audio; a slower plugin is ended.",
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
        description: "Maximum time that a block in real time waits for its plugins; then the input of the block is passed on instead; 0 means three quarters of the block, but at most 4.",
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
        description: "Maximum time that a folder dialog stays open.",
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
