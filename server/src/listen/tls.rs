//! The certificate of HTTPS: read at start, checked, and read again when its files change.

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

/// How often it is looked whether the files have changed.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How often a certificate that ends is spoken of.
const REMIND_EVERY: Duration = Duration::from_secs(86_400);

/// How long before its end a certificate is spoken of.
const REMIND_BEFORE: Duration = Duration::from_secs(14 * 86_400);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {} ({setting}): {source}", path.display())]
    Unreadable { setting: &'static str, path: PathBuf, source: std::io::Error },
    /// A file is not what it should be.
    #[error("{} ({setting}) {what}", path.display())]
    Malformed { setting: &'static str, path: PathBuf, what: String },
    /// The key is another certificate's.
    #[error("the key {} (SF_TLS_KEY) does not belong to the certificate {} (SF_TLS_CERT)", key.display(), certificate.display())]
    OtherKey { certificate: PathBuf, key: PathBuf },
}

/// Whether a certificate is good at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    /// It is.
    Good,
    /// Not yet.
    TooEarly,
    /// Not any more.
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
    /// When either cannot be read or used, by name.
    pub(crate) fn open(files: &TlsFiles) -> Result<Arc<Self>, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let current = RwLock::new(Arc::new(read(files, &provider)?));
        let this = Self { files: files.clone(), provider, current };
        this.warn_of_its_end();
        Ok(Arc::new(this))
    }

    /// What encrypts connections with this certificate, whichever it is at the time.
    ///
    /// # Errors
    /// When the library of cryptography refuses; it never does with its own defaults.
    pub(crate) fn acceptor(self: &Arc<Self>) -> anyhow::Result<TlsAcceptor> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again. If they cannot be used, what was read before stays.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let read = Arc::new(read(&self.files, &self.provider)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = read;
        self.warn_of_its_end();
        Ok(())
    }

    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn_of_its_end(&self) {
        let (path, now) = (self.files.certificate.display(), UnixTime::now());
        let soon = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + REMIND_BEFORE);
        let certified = self.current();
        match (validity(&certified, now), validity(&certified, soon)) {
            (Validity::Expired, _) => {
                tracing::warn!("the certificate {path} has expired; browsers refuse it");
            }
            (Validity::TooEarly, _) => {
                tracing::warn!("the certificate {path} is not valid yet; browsers refuse it");
            }
            (_, Validity::Expired) => tracing::warn!("the certificate {path} expires within two weeks"),
            _ => {}
        }
    }

    /// Reads the files again when they change or on SIGHUP, until `stop`.
    pub(crate) async fn keep_fresh(self: Arc<Self>, mut hangups: Hangups, stop: CancellationToken) {
        let (mut seen, mut since_reminder) = (self.marks(), Duration::ZERO);
        loop {
            let is_asked = tokio::select! {
                () = stop.cancelled() => return,
                () = hangups.next() => true,
                () = tokio::time::sleep(LOOK_EVERY) => false,
            };
            let marks = self.marks();
            if is_asked || marks != seen {
                seen = marks;
                match self.reload() {
                    Ok(()) => tracing::info!("read the certificate again"),
                    Err(error) => tracing::error!("the certificate stays as it was: {error}"),
                }
            }
            since_reminder += LOOK_EVERY;
            if since_reminder >= REMIND_EVERY {
                since_reminder = Duration::ZERO;
                self.warn_of_its_end();
            }
        }
    }

    /// What differs when a file was replaced.
    fn marks(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.files.certificate, &self.files.key].map(|path| {
            let facts = fs::metadata(path).ok()?;
            Some((facts.modified().ok()?, facts.len()))
        })
    }
}

/// Hears SIGHUP from its making on; before, that signal would end the process.
#[derive(Debug)]
pub(crate) struct Hangups {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
}

impl Hangups {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signals: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        if self.signals.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
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
        return Err(malformed(setting, path, "holds no certificate in PEM".to_owned()));
    }
    let key = read_key("SF_TLS_KEY", &files.key)?;
    CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            TlsError::OtherKey { certificate: files.certificate.clone(), key: files.key.clone() }
        }
        rustls::Error::InvalidCertificate(why) => {
            malformed(setting, path, format!("holds a certificate that cannot be used: {why:?}"))
        }
        other => malformed("SF_TLS_KEY", &files.key, format!("holds a key that cannot be used: {other}")),
    })
}

fn read_key(setting: &'static str, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&bytes(setting, path)?).map_err(|error| {
        let what = match error {
            pem::Error::NoItemsFound => "holds no private key in PEM, or one with a passphrase".to_owned(),
            other => format!("is not PEM: {other}"),
        };
        malformed(setting, path, what)
    })
}

fn bytes(setting: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable { setting, path: path.to_owned(), source })
}

fn malformed(setting: &'static str, path: &Path, what: String) -> TlsError {
    TlsError::Malformed { setting, path: path.to_owned(), what }
}

/// Whether a certificate is good at `time`. Who signed it is the browsers' business: the verifier,
/// which trusts nobody here, looks at the dates before anything else.
fn validity(certified: &CertifiedKey, time: UnixTime) -> Validity {
    let Some(certificate) = certified.cert.first() else { return Validity::Good };
    let Ok(parsed) = ParsedCertificate::try_from(certificate) else { return Validity::Good };
    match verify_server_cert_signed_by_trust_anchor(&parsed, &RootCertStore::empty(), &[], time, &[]) {
        Err(rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Validity::Expired,
        Err(rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Validity::TooEarly,
        _ => Validity::Good,
    }
}

#[cfg(test)]
mod tests;
