//! Settings of the network, the storage and the accounts.

use super::ON_OFF;
use crate::config::setting::{DEFAULT_SETTING, Range, Setting};

/// Settings of the network, the storage and the accounts, in the order in which they are printed.
pub(super) const SERVER_SETTINGS: &[Setting] = &[
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
        name: "SF_NODE_ADDRESS",
        default_note: "none: a window of a plugin is known only to the process that opened it",
        range: Range::Text("a host and a port, such as 10.0.0.2:8600"),
        description: "Address at which the other processes of this installation reach this one over HTTP, in a private network.",
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
        description: "Maximum time for which a connection is idle, the head of a request arrives, or a client stops reading an answer. The connection is then closed.",
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
        description: "Maximum pause while the body of a request arrives.",
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
        description: "Maximum time in which a request body that is kept in memory arrives, such as a project; uploaded files have no such limit.",
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
        description: "Maximum wait for a database lock, after which a request gets 503 `database_busy`; the maximum wait for a connection is 5 s longer.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_BLOB_STORE",
        default_note: "`blobs` in the storage folder, for one process",
        range: Range::Text(
            "the absolute path of a folder that all processes share, or s3://<bucket>/<prefix>",
        ),
        description: "Store of audio files and renders if several processes share them.",
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
        description: "Time for which a log-in token is valid.",
        ..DEFAULT_SETTING
    },
    Setting {
        name: "SF_REGISTRATION",
        default: "closed",
        range: Range::Choice(&["open", "invite", "closed"]),
        description: "Persons who may create an account: everybody, people with an administrator's invitation, or nobody.",
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
        description: "Time for which the log of log-ins, account changes and deletions is kept.",
        ..DEFAULT_SETTING
    },
];
