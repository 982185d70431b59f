//! Settings of the listening address, HTTPS, trusted proxies, and limits on connections.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use axum::http::Uri;
use axum::http::uri::Authority;

use super::source::invalid;
use super::{ConfigError, Source};
use crate::body_pace::BodyPace;

/// Listening address, HTTPS, trusted proxies, and limits on connections.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on. With 0, the operating system chooses a port.
    pub port: u16,
    /// Port for the health checks and metrics of a worker. With `None`, a worker does not listen.
    pub worker_port: Option<u16>,
    /// Host and port at which the other processes of the installation reach this one.
    pub node_address: Option<String>,
    /// Proxies whose headers are trusted to name the client. Requests from these proxies are never
    /// local.
    pub trusted_proxies: Vec<IpAddr>,
    /// Certificate and key of HTTPS. `None` means HTTP.
    pub tls: Option<TlsFiles>,
    /// Limits on connections.
    pub connections: ConnectionLimits,
    /// Minimum rate and maximum pauses of request bodies.
    pub bodies: BodyPace,
    /// Origins of other sites whose pages may call the API.
    pub cors_origins: Vec<String>,
}

/// Limits on connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Maximum time without activity, for receiving the head of a request, and for a client that
    /// does not read an answer.
    pub idle_max: Duration,
    /// Maximum number of connections at a time.
    pub max: usize,
    /// Maximum number of connections of one address, or of one IPv6 /64, at a time.
    pub max_per_address: usize,
    /// Maximum number of active requests of one account at a time.
    pub max_requests_per_account: usize,
}

/// Number of file descriptors that are reserved for the database, stored files and helper
/// processes. At most half of the process's limit is reserved.
#[cfg(unix)]
const RESERVED_FILES: u64 = 256;

impl ConnectionLimits {
    /// Returns [`Self::max`], or less if the process may open too few files.
    #[cfg(unix)]
    pub(crate) fn max_by_open_files(&self) -> usize {
        use nix::sys::resource::{Resource, getrlimit};
        let Ok((files_max, _)) = getrlimit(Resource::RLIMIT_NOFILE) else { return self.max };
        let available_files = files_max.saturating_sub(RESERVED_FILES).max(files_max / 2);
        usize::try_from(available_files).unwrap_or(self.max).min(self.max)
    }

    /// Returns [`Self::max`], because the limit of this operating system is not known.
    #[cfg(not(unix))]
    pub(crate) fn max_by_open_files(&self) -> usize {
        self.max
    }
}

/// The files of HTTPS.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// Certificates in PEM: first that of the service, then those that signed it.
    pub certificate: PathBuf,
    /// Private key of the service's certificate in PEM.
    pub private_key: PathBuf,
}

pub(super) fn read(source: &Source) -> Result<NetworkConfig, ConfigError> {
    let host = source.text("SF_HOST").0.unwrap_or_default();
    let host = if host == "localhost" {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        host.trim_matches(['[', ']']).parse().map_err(|_| {
            invalid("SF_HOST", host, "an IP address such as 127.0.0.1, or localhost".to_owned())
        })?
    };
    let worker_port = match source.text("SF_WORKER_PORT").0 {
        Some(_) => Some(port(source, "SF_WORKER_PORT")?),
        None => None,
    };
    let trusted_proxies = source
        .list("SF_TRUSTED_PROXIES")
        .map(|text| {
            text.parse::<IpAddr>().map(|address| address.to_canonical()).map_err(|_| {
                invalid("SF_TRUSTED_PROXIES", text, "IP addresses separated by commas".to_owned())
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(NetworkConfig {
        host,
        port: port(source, "SF_PORT")?,
        worker_port,
        node_address: node_address(source)?,
        trusted_proxies,
        tls: tls(source)?,
        connections: connections(source)?,
        bodies: bodies(source)?,
        cors_origins: origins(source)?,
    })
}

fn connections(source: &Source) -> Result<ConnectionLimits, ConfigError> {
    let count =
        |setting_name| source.integer(setting_name).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    Ok(ConnectionLimits {
        idle_max: Duration::from_secs(source.integer("SF_CONNECTION_IDLE_SECS")?),
        max: count("SF_CONNECTIONS_MAX")?,
        max_per_address: count("SF_CONNECTIONS_PER_ADDRESS")?,
        max_requests_per_account: count("SF_ACTIVE_REQUESTS_PER_ACCOUNT")?,
    })
}

fn bodies(source: &Source) -> Result<BodyPace, ConfigError> {
    Ok(BodyPace {
        pause_max: Duration::from_secs(source.integer("SF_BODY_PAUSE_SECS")?),
        min_bytes_per_sec: source.integer("SF_BODY_MIN_BYTES_PER_SEC")?,
        whole_max: Duration::from_secs(source.integer("SF_BODY_MAX_SECS")?),
    })
}

fn port(source: &Source, setting_name: &'static str) -> Result<u16, ConfigError> {
    let port = source.integer(setting_name)?;
    u16::try_from(port)
        .map_err(|_| invalid(setting_name, &port.to_string(), "a whole number from 0 to 65535".to_owned()))
}

fn node_address(source: &Source) -> Result<Option<String>, ConfigError> {
    let Some(text) = source.text("SF_NODE_ADDRESS").0 else { return Ok(None) };
    let is_address = text.parse::<Authority>().is_ok_and(|authority| {
        !authority.host().is_empty()
            && authority.port_u16().is_some_and(|port| port > 0)
            && !text.contains('@')
    });
    match is_address {
        true => Ok(Some(text.to_owned())),
        false => {
            let expected = "a host and a port, such as 10.0.0.2:8600".to_owned();
            Err(invalid("SF_NODE_ADDRESS", text, expected))
        }
    }
}

fn origins(source: &Source) -> Result<Vec<String>, ConfigError> {
    source
        .list("SF_CORS_ORIGINS")
        .map(|origin| match is_origin(origin) {
            true => Ok(origin.to_owned()),
            false => {
                let expected =
                    "origins as browsers send them, such as https://studio.example:8443, separated by commas";
                Err(invalid("SF_CORS_ORIGINS", origin, expected.to_owned()))
            }
        })
        .collect()
}

/// Whether this is an origin exactly as browsers send it. Origins are compared as text, so other
/// forms would never match.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.authority()) else { return false };
    matches!(scheme, "http" | "https")
        && text == format!("{scheme}://{host}")
        && !host.as_str().contains(['@', '*'])
        && text == text.to_ascii_lowercase()
}

fn tls(source: &Source) -> Result<Option<TlsFiles>, ConfigError> {
    let path = |setting_name| source.text(setting_name).0.map(PathBuf::from);
    match (path("SF_TLS_CERT"), path("SF_TLS_KEY")) {
        (Some(certificate), Some(private_key)) => Ok(Some(TlsFiles { certificate, private_key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ConfigError::Missing {
            key: "SF_TLS_KEY",
            reason: "it is required together with SF_TLS_CERT; set both or neither",
        }),
        (None, Some(_)) => Err(ConfigError::Missing {
            key: "SF_TLS_CERT",
            reason: "it is required together with SF_TLS_KEY; set both or neither",
        }),
    }
}
