//! Tests of the accepted values of settings, and of the errors for other values.

use std::path::Path;

use super::*;
use crate::extract::{DOCUMENTS_AT_ONCE_KIB, SMALL_AT_ONCE_KIB};

fn load(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let mut settings = vec![("SF_STORAGE_DIR", "/srv/songs")];
    settings.extend_from_slice(pairs);
    Config::load(&Source::from_pairs(settings))
}

#[track_caller]
fn check_refused(pairs: &[(&str, &str)], expected: &str) {
    let error = load(pairs).expect_err("these settings must be refused").to_string();
    assert!(error.contains(expected), "`{error}` does not say `{expected}`");
}

#[test]
fn defaults_are_those_of_a_desktop() {
    let config = load(&[]).expect("the defaults are valid");
    assert_eq!(config.environment, Environment::Standalone);
    assert_eq!((config.network.host.to_string().as_str(), config.network.port), ("127.0.0.1", 8600));
    assert_eq!(config.storage.database.reveal(), "sqlite:/srv/songs/songfoundry.db");
    assert_eq!(config.sound.instrument_sound, InstrumentSound::Server);
    assert!(config.accounts.trusts_local);
    assert_eq!(config.accounts.token_lifetime_secs, 12 * 3600);
}

#[test]
fn the_default_memory_limits_add_up_to_less_than_1_5_gb() {
    // A document needs up to ten times its own size in memory.
    const MEMORY_FACTOR: u64 = 10;
    let Config { sound, limits, .. } = load(&[]).expect("the defaults are valid");
    let documents_bytes = MEMORY_FACTOR * u64::from(DOCUMENTS_AT_ONCE_KIB + SMALL_AT_ONCE_KIB) * 1024;
    let settings =
        [sound.render_memory_bytes, sound.bank_cache_bytes, limits.bodies_memory_bytes, documents_bytes];
    let sum_bytes: u64 = settings.iter().sum();
    assert!(
        sum_bytes <= 1_420_000_000,
        "{sum_bytes} bytes leave too little memory for the other parts of the process"
    );
    assert!(sound.bank_decoded_max_bytes <= sound.bank_cache_bytes);
}

#[test]
fn an_invalid_value_is_refused_by_name() {
    check_refused(&[("SF_PORT", "70000")], "SF_PORT is `70000`; expected a whole number from 0 to 65535");
    check_refused(&[("SF_PORT", "http")], "SF_PORT is `http`");
    check_refused(&[("SF_HOST", "example.org")], "SF_HOST is `example.org`");
    check_refused(
        &[("SF_ENVIRONMENT", "cloud")],
        "SF_ENVIRONMENT is `cloud`; expected one of standalone, container",
    );
    check_refused(
        &[("SF_RENDER_ENGINE", "inprocess")],
        "SF_RENDER_ENGINE is `inprocess`; expected one of bridge",
    );
    check_refused(&[("SF_TRUST_LOCAL", "yes")], "SF_TRUST_LOCAL is `yes`; expected one of on, off");
    check_refused(&[("SF_TRUSTED_PROXIES", "10.0.0.1, proxy")], "SF_TRUSTED_PROXIES is `proxy`");
    check_refused(&[("SF_LOG", "=,=")], "SF_LOG is");
    check_refused(&[("SF_DATABASE_URL", "mysql://root:pw@db/x")], "SF_DATABASE_URL");
}

#[test]
fn a_certificate_needs_its_key_and_the_key_its_certificate() {
    check_refused(&[("SF_TLS_CERT", "/srv/cert.pem")], "SF_TLS_KEY is not set");
    check_refused(&[("SF_TLS_KEY", "/srv/key.pem")], "SF_TLS_CERT is not set");
    let tls = load(&[("SF_TLS_CERT", "/srv/cert.pem"), ("SF_TLS_KEY", "/srv/key.pem")]);
    let tls = tls.expect("both are set").network.tls.expect("HTTPS");
    assert_eq!(
        (tls.certificate.as_path(), tls.private_key.as_path()),
        (Path::new("/srv/cert.pem"), Path::new("/srv/key.pem"))
    );
}

#[test]
fn cors_origins_must_be_exact_origins() {
    let origins = |text| load(&[("SF_CORS_ORIGINS", text)]).map(|config| config.network.cors_origins);
    assert_eq!(origins("").expect("none"), [""; 0]);
    let two = origins("https://studio.example, http://localhost:5173").expect("two");
    assert_eq!(two, ["https://studio.example", "http://localhost:5173"]);
    for invalid in [
        "*",
        "null",
        "https://*.example",
        "studio.example",
        "https://studio.example/",
        "https://Studio.example",
    ] {
        check_refused(&[("SF_CORS_ORIGINS", invalid)], &format!("SF_CORS_ORIGINS is `{invalid}`"));
    }
}

#[test]
fn the_address_of_a_process_is_a_host_and_a_port() {
    let address = |text| load(&[("SF_NODE_ADDRESS", text)]).map(|config| config.network.node_address);
    assert_eq!(address("").expect("none"), None);
    for valid in ["10.0.0.2:8600", "node-2:80", "[::1]:8600"] {
        assert_eq!(address(valid).expect("valid").as_deref(), Some(valid));
    }
    for invalid in ["10.0.0.2", "http://10.0.0.2:8600", ":8600", "node:0", "node:99999", "ada@node:80"] {
        check_refused(&[("SF_NODE_ADDRESS", invalid)], &format!("SF_NODE_ADDRESS is `{invalid}`"));
    }
}

#[test]
fn a_secret_never_appears_in_a_message() {
    let error = load(&[("SF_JWT_SECRET", "too-short")]).expect_err("too short").to_string();
    assert!(error.contains("SF_JWT_SECRET") && !error.contains("too-short"), "{error}");
    let long_secret = "0123456789abcdef0123456789abcdef";
    let config = load(&[("SF_JWT_SECRET", long_secret)]).expect("long enough");
    assert!(!format!("{config:?}").contains(long_secret));
    let error =
        load(&[("SF_DATABASE_URL", "mysql://root:hunter2@db/x")]).expect_err("not SQLite").to_string();
    assert!(error.starts_with("SF_DATABASE_URL is (hidden: an unsupported address); expected "), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    let config = load(&[("SF_DATABASE_URL", "postgres://ada:hunter2@db/x")]).expect("PostgreSQL");
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn stored_files_are_in_a_folder_or_a_bucket() {
    let blobs = |pairs: &[(&str, &str)]| load(pairs).expect("valid settings").storage.blobs;
    assert!(matches!(blobs(&[]), BlobStore::Local));
    assert!(
        matches!(blobs(&[("SF_BLOB_STORE", "/shared")]), BlobStore::SharedFolder(dir) if dir == Path::new("/shared"))
    );
    let key = [("SF_S3_ACCESS_KEY_ID", "me"), ("SF_S3_SECRET_ACCESS_KEY", "hunter2")];
    let BlobStore::S3(s3) = blobs(&[("SF_BLOB_STORE", "s3://songs/a/b/"), key[0], key[1]]) else {
        panic!("the files are not in a bucket")
    };
    assert_eq!((s3.bucket.as_str(), s3.prefix.as_str(), s3.region.as_str()), ("songs", "a/b", "us-east-1"));
    assert!(!format!("{s3:?}").contains("hunter2"));
    check_refused(&[("SF_BLOB_STORE", "shared")], "SF_BLOB_STORE is `shared`");
    check_refused(&[("SF_BLOB_STORE", "s3://")], "SF_BLOB_STORE");
    check_refused(&[("SF_BLOB_STORE", "s3://songs"), key[1]], "SF_S3_ACCESS_KEY_ID is not set");
    check_refused(&[("SF_BLOB_STORE", "s3://songs"), key[0]], "SF_S3_SECRET_ACCESS_KEY is not set");
    let endpoint = [("SF_BLOB_STORE", "s3://songs"), ("SF_S3_ENDPOINT", "localhost:9000")];
    check_refused(&endpoint, "SF_S3_ENDPOINT is `localhost:9000`");
}

#[test]
fn a_container_needs_its_signing_key() {
    check_refused(&[("SF_ENVIRONMENT", "container")], "SF_JWT_SECRET is not set");
    let config =
        load(&[("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")])
            .expect("the settings are valid with a key");
    assert_eq!(config.sound.instrument_sound, InstrumentSound::Client);
    assert!(!config.accounts.trusts_local);
}

#[test]
fn a_settings_file_is_read_and_errors_name_its_mistakes() {
    let path = Path::new("songfoundry.toml");
    let source = Source::from_toml(
        "port = 9000\ntrust_local = false\nstorage_dir = \"/srv/x\"\nsoundfont_dirs = [\"/a\", \"/b\"]\n",
        path,
    )
    .expect("valid file");
    let config = Config::load(&source).expect("valid settings");
    assert_eq!(config.network.port, 9000);
    assert!(!config.accounts.trusts_local);
    assert_eq!(config.sound.soundfont_dirs, [PathBuf::from("/a"), PathBuf::from("/b")]);
    let error = Source::from_toml("prot = 1", path).expect_err("no such setting").to_string();
    assert!(error.contains("`prot` is not a setting"), "{error}");
    let error = Source::from_toml("port = [", path).expect_err("not TOML").to_string();
    assert!(error.contains("songfoundry.toml is not valid TOML"), "{error}");
}

#[test]
fn unknown_variables_are_found() {
    let source = Source::from_pairs([("SF_PROT", "1"), ("SF_PORT", "1")]);
    assert_eq!(source.unknown_variables(), ["SF_PROT"]);
}

#[test]
fn every_setting_has_a_description_and_a_range() {
    for setting in SETTINGS {
        assert!(setting.name.starts_with("SF_") && !setting.description.is_empty(), "{setting:?}");
        assert!(!setting.range.to_string().is_empty(), "{setting:?}");
    }
}

#[test]
fn the_address_of_language_models_must_not_contain_a_secret() {
    let load = |url: &str| load(&[("SF_AI_UPSTREAM_URL", url), ("SF_AI_MODELS", "a, b,")]);
    let upstream = load("https://ai.example/v1").expect("valid").ai.upstream.expect("one");
    assert_eq!(
        (upstream.base.as_str(), upstream.models),
        ("https://ai.example/v1/", vec!["a".to_owned(), "b".to_owned()])
    );
    for url in [
        "ai.example",
        "ftp://ai.example/",
        "https://me:secret@ai.example/",
        "https://ai.example/?k=secret",
        "https://ai.example/#secret",
    ] {
        let error = load(url).expect_err(url).to_string();
        assert!(error.contains("SF_AI_UPSTREAM_URL") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn folders_must_be_absolute_paths() {
    let folders = load(&[("SF_MEDIA_DIRS", "/a:/b:"), ("SF_DOCUMENTS_DIR", "/c")]).expect("valid").folders;
    assert_eq!(folders.media_dirs, [Path::new("/a"), Path::new("/b")]);
    assert_eq!(folders.documents_dir.as_deref(), Some(Path::new("/c")));
    check_refused(
        &[("SF_MEDIA_DIRS", "/a:b")],
        "SF_MEDIA_DIRS is `b`; expected the absolute path of a folder",
    );
    check_refused(&[("SF_DOCUMENTS_DIR", "c")], "SF_DOCUMENTS_DIR is `c`");
    assert_eq!(load(&[]).expect("valid").plugins.roots, None, "on a desktop, all folders are allowed");
    let roots = load(&[("SF_PLUGIN_ROOTS", "/a:/b")]).expect("valid").plugins.roots;
    assert_eq!(roots.as_deref(), Some(&[PathBuf::from("/a"), PathBuf::from("/b")][..]));
    check_refused(
        &[("SF_PLUGIN_ROOTS", "b")],
        "SF_PLUGIN_ROOTS is `b`; expected the absolute path of a folder",
    );
}
