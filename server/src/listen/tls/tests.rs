//! Tests of valid certificates, and of the errors of invalid ones.

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn files(&self) -> TlsFiles {
        TlsFiles { certificate: self.0.path().join("cert.pem"), private_key: self.0.path().join("key.pem") }
    }

    /// Writes a certificate that is valid until the end of `until_year`, and its key.
    fn write(&self, until_year: i32) {
        let mut params = CertificateParams::new(vec!["studio.example".to_owned()]).expect("a name");
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(until_year, 12, 31);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("signs");
        fs::write(self.files().certificate, certificate.pem()).expect("writes");
        fs::write(self.files().private_key, key.serialize_pem()).expect("writes");
    }

    #[track_caller]
    fn check_refused(&self, expected: &[&str]) {
        let text = Certificate::open(&self.files()).expect_err("must be refused").to_string();
        for part in expected {
            assert!(text.contains(part), "`{text}` does not contain `{part}`");
        }
    }
}

#[test]
fn errors_name_the_unusable_file() {
    let folder = Folder::new();
    folder.check_refused(&["cert.pem (SF_TLS_CERT)", "No such file"]);
    folder.write(2090);
    Certificate::open(&folder.files()).expect("a matching pair");

    let key = fs::read(folder.files().private_key).expect("reads");
    fs::remove_file(folder.files().private_key).expect("removes");
    folder.check_refused(&["key.pem (SF_TLS_KEY)", "No such file"]);
    fs::write(folder.files().private_key, "no key").expect("writes");
    folder.check_refused(&["key.pem (SF_TLS_KEY)", "no private key"]);

    let other_folder = Folder::new();
    other_folder.write(2090);
    fs::copy(other_folder.files().private_key, folder.files().private_key).expect("copies");
    folder.check_refused(&["key.pem (SF_TLS_KEY)", "does not belong to", "cert.pem (SF_TLS_CERT)"]);

    fs::write(folder.files().private_key, key).expect("writes");
    fs::write(folder.files().certificate, "no certificate").expect("writes");
    folder.check_refused(&["cert.pem (SF_TLS_CERT)", "no certificate"]);
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(folder.files().certificate, nonsense).expect("writes");
    folder.check_refused(&["cert.pem (SF_TLS_CERT)", "cannot be used"]);
}

#[test]
fn the_dates_determine_the_validity() {
    let folder = Folder::new();
    folder.write(2021);
    // An expired certificate is used, and the service only warns.
    let certified = Certificate::open(&folder.files()).expect("opens").current();
    let validity_at = |secs| validity(&certified, UnixTime::since_unix_epoch(Duration::from_secs(secs)));
    assert_eq!(validity_at(1_500_000_000), Validity::NotYet);
    assert_eq!(validity_at(1_600_000_000), Validity::Valid);
    assert_eq!(validity_at(1_700_000_000), Validity::Expired);
}

#[test]
fn a_reload_replaces_the_certificate_only_if_its_key_matches() {
    let folder = Folder::new();
    folder.write(2090);
    let certificate = Certificate::open(&folder.files()).expect("opens");
    let first = certificate.current().cert.clone();
    let old_key = fs::read(folder.files().private_key).expect("reads");
    folder.write(2091);
    let new_key = fs::read(folder.files().private_key).expect("reads");
    fs::write(folder.files().private_key, old_key).expect("writes");
    certificate.reload().expect_err("the key does not match");
    assert_eq!(certificate.current().cert, first);
    fs::write(folder.files().private_key, new_key).expect("writes");
    certificate.reload().expect("the key matches");
    assert_ne!(certificate.current().cert, first);
}
