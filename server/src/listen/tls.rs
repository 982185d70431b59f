//! The certificate of HTTPS. It is checked when it is loaded, and reloaded when its files change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, InconsistentKeys, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::config::TlsFiles;

/// Interval at which the files are checked for changes.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// Interval of warnings about the certificate's expiry.
const WARN_EVERY: Duration = Duration::from_secs(86_400);

/// Time before the certificate's expiry at which warnings begin.
const WARN_BEFORE: Duration = Duration::from_secs(14 * 86_400);

/// The reason why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {} ({setting}): {source}", path.display())]
    Unreadable { setting: &'static str, path: PathBuf, source: std::io::Error },
    /// A file has no usable certificate or key.
    #[error("{} ({setting}) {fault}", path.display())]
    Malformed { setting: &'static str, path: PathBuf, fault: String },
    /// The key belongs to another certificate.
    #[error("the key {} (SF_TLS_KEY) does not belong to the certificate {} (SF_TLS_CERT)", key.display(), certificate.display())]
    KeyMismatch { certificate: PathBuf, key: PathBuf },
}

/// Whether a certificate is valid at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    /// The certificate is valid, or its dates cannot be read.
    Valid,
    /// The certificate is not valid yet.
    NotYet,
    /// The certificate has expired.
    Expired,
}

/// A certificate that can be replaced while it is in use.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: TlsFiles,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads the certificate and its key.
    ///
    /// # Errors
    /// If either cannot be read or used. The error names the file.
    pub(crate) fn open(files: &TlsFiles) -> Result<Arc<Self>, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let current = RwLock::new(Arc::new(read(files, &provider)?));
        let certificate = Self { files: files.clone(), provider, current };
        certificate.warn_of_expiry();
        Ok(Arc::new(certificate))
    }

    /// Returns an acceptor that encrypts connections with the current certificate.
    ///
    /// # Errors
    /// If the TLS library does not support its default protocol versions, which does not happen.
    pub(crate) fn acceptor(self: &Arc<Self>) -> anyhow::Result<TlsAcceptor> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again. If they cannot be used, the current certificate stays.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let certified_key = Arc::new(read(&self.files, &self.provider)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = certified_key;
        self.warn_of_expiry();
        Ok(())
    }

    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn_of_expiry(&self) {
        let (path, now) = (self.files.certificate.display(), UnixTime::now());
        let warning_time = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + WARN_BEFORE);
        let certified_key = self.current();
        match (validity(&certified_key, now), validity(&certified_key, warning_time)) {
            (Validity::Expired, _) => {
                tracing::warn!("the certificate {path} has expired; browsers refuse it");
            }
            (Validity::NotYet, _) => {
                tracing::warn!("the certificate {path} is not valid yet; browsers refuse it");
            }
            (_, Validity::Expired) => tracing::warn!("the certificate {path} expires within two weeks"),
            _ => {}
        }
    }

    /// Reads the files again when they change and on SIGHUP, until `stop`.
    pub(crate) async fn keep_fresh(self: Arc<Self>, mut hangups: Hangups, stop: CancellationToken) {
        let (mut loaded_stamps, mut since_warning) = (self.file_stamps(), Duration::ZERO);
        loop {
            let is_hangup = tokio::select! {
                () = stop.cancelled() => return,
                () = hangups.next() => true,
                () = tokio::time::sleep(CHECK_EVERY) => false,
            };
            let stamps = self.file_stamps();
            if is_hangup || stamps != loaded_stamps {
                loaded_stamps = stamps;
                match self.reload() {
                    Ok(()) => {
                        let path = self.files.certificate.display();
                        tracing::info!("reloaded the certificate {path}");
                    }
                    Err(error) => {
                        tracing::error!("cannot reload the certificate; the old one stays in use: {error}");
                    }
                }
            }
            since_warning += CHECK_EVERY;
            if since_warning >= WARN_EVERY {
                since_warning = Duration::ZERO;
                self.warn_of_expiry();
            }
        }
    }

    /// Returns the modification time and size of both files. They change when a file is replaced.
    fn file_stamps(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.files.certificate, &self.files.private_key].map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
    }
}

/// Receives SIGHUP. Without a receiver, the signal would end the process.
#[derive(Debug)]
pub(crate) struct Hangups {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
}

impl Hangups {
    /// Begins to receive the signal.
    ///
    /// # Errors
    /// If the signal handler cannot be installed.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signals: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        if self.signals.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Never completes, because the system has no such signal.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let (setting, path) = ("SF_TLS_CERT", files.certificate.as_path());
    let bytes = bytes(setting, path)?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<_, _>>()
        .map_err(|error| malformed(setting, path, format!("is not PEM: {error}")))?;
    if chain.is_empty() {
        return Err(malformed(setting, path, "contains no certificate in PEM".to_owned()));
    }
    let private_key = read_key("SF_TLS_KEY", &files.private_key)?;
    CertifiedKey::from_der(chain, private_key, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            TlsError::KeyMismatch { certificate: files.certificate.clone(), key: files.private_key.clone() }
        }
        rustls::Error::InvalidCertificate(reason) => {
            malformed(setting, path, format!("contains a certificate that cannot be used: {reason:?}"))
        }
        error => malformed(
            "SF_TLS_KEY",
            &files.private_key,
            format!("contains a key that cannot be used: {error}"),
        ),
    })
}

fn read_key(setting: &'static str, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&bytes(setting, path)?).map_err(|error| {
        let fault = match error {
            pem::Error::NoItemsFound => "contains no private key in PEM, or one with a passphrase".to_owned(),
            error => format!("is not PEM: {error}"),
        };
        malformed(setting, path, fault)
    })
}

fn bytes(setting: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable { setting, path: path.to_owned(), source })
}

fn malformed(setting: &'static str, path: &Path, fault: String) -> TlsError {
    TlsError::Malformed { setting, path: path.to_owned(), fault }
}

/// Returns whether a certificate is valid at `time`, regardless of its issuer. The verifier used
/// here trusts no issuer, but it checks the dates before the issuer.
fn validity(certified_key: &CertifiedKey, time: UnixTime) -> Validity {
    let Some(certificate) = certified_key.cert.first() else { return Validity::Valid };
    let Ok(parsed_certificate) = ParsedCertificate::try_from(certificate) else { return Validity::Valid };
    match verify_server_cert_signed_by_trust_anchor(
        &parsed_certificate,
        &RootCertStore::empty(),
        &[],
        time,
        &[],
    ) {
        Err(rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Validity::Expired,
        Err(rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Validity::NotYet,
        _ => Validity::Valid,
    }
}

#[cfg(test)]
mod tests;
