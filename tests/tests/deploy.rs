//! Checks the files in `deploy/`. Each setting exists and has a valid value, and files that are
//! copied or mounted exist. Images are not built here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use songfoundry_server::config::{Config, SETTINGS, Source};
use yaml_rust2::{Yaml, YamlLoader};

/// The value for each placeholder that an installer must replace.
const PLACEHOLDER_VALUE: &str = "0123456789abcdef0123456789abcdef";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks that the service accepts the settings.
#[track_caller]
fn assert_accepted(settings: &BTreeMap<String, String>) {
    for key in settings.keys() {
        assert!(SETTINGS.iter().any(|setting| setting.name == key), "{key} is not a setting");
    }
    let mut complete_settings = settings.clone();
    // In an image, the platform has no default storage folder.
    complete_settings.entry("SF_STORAGE_DIR".to_owned()).or_insert("/data".to_owned());
    Config::load(&Source::from_pairs(complete_settings)).unwrap_or_else(|error| panic!("{error}"));
}

/// Replaces each placeholder `${NAME:?description}` by a value.
fn with_placeholders_replaced(text: &str) -> String {
    let mut expanded = text.to_owned();
    while let Some(start) = expanded.find("${") {
        let end = start + expanded[start..].find('}').expect("a closing brace");
        assert!(
            expanded[start..end].contains(":?"),
            "a placeholder without `:?`, which an installer can forget: {text}"
        );
        expanded.replace_range(start..=end, PLACEHOLDER_VALUE);
    }
    expanded
}

fn compose() -> Yaml {
    let mut documents = YamlLoader::load_from_str(&read("deploy/compose.yaml")).expect("YAML");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// Returns the pairs of a YAML mapping, including the pairs of merged mappings.
fn pairs(mapping: &Yaml) -> BTreeMap<String, Yaml> {
    let mut pairs_found = BTreeMap::new();
    for (key, value) in mapping.as_hash().expect("a mapping") {
        match key.as_str().expect("a name") {
            "<<" => pairs_found.extend(pairs(value)),
            key => {
                pairs_found.insert(key.to_owned(), value.clone());
            }
        }
    }
    pairs_found
}

/// Returns the settings of the image.
fn settings_of_the_image() -> BTreeMap<String, String> {
    let text = read("deploy/Dockerfile").replace("\\\n", " ");
    let lines = text.lines().filter_map(|line| line.strip_prefix("ENV "));
    let pairs_set = lines.flat_map(str::split_whitespace).filter_map(|pair| pair.split_once('='));
    pairs_set.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn every_service_of_the_compose_file_has_valid_settings() {
    let services = pairs(&compose()["services"]);
    for name in ["server", "worker"] {
        let mut settings = settings_of_the_image();
        for (key, value) in pairs(&pairs(&services[name])["environment"]) {
            settings.insert(
                key,
                with_placeholders_replaced(value.as_str().expect("text; numbers and switches need quotes")),
            );
        }
        assert_accepted(&settings);
        assert!(
            settings["SF_DATABASE_URL"].starts_with("postgres://")
                && settings["SF_BLOB_STORE"].starts_with("s3://")
        );
    }
}

#[test]
fn files_that_the_compose_file_refers_to_exist() {
    let compose = compose();
    let (services, volumes) = (pairs(&compose["services"]), pairs(&compose["volumes"]));
    let proxy =
        compose["services"]["proxy"]["networks"]["default"]["ipv4_address"].as_str().expect("an address");
    assert_eq!(compose["services"]["server"]["environment"]["SF_TRUSTED_PROXIES"].as_str(), Some(proxy));
    for (name, service) in services.iter().map(|(name, service)| (name, pairs(service))) {
        if let Some(build) = service.get("build") {
            assert!(
                root()
                    .join("deploy")
                    .join(build["context"].as_str().expect("a folder"))
                    .join(build["dockerfile"].as_str().expect("a file"))
                    .is_file()
            );
        } else {
            let image = service["image"].as_str().expect("an image");
            assert!(
                image.split_once(':').is_some_and(|(_, tag)| tag != "latest"),
                "{name}: the image {image} may change; name a version"
            );
        }
        for dependency in service.get("depends_on").map(pairs).unwrap_or_default().keys() {
            assert!(
                services.contains_key(dependency),
                "{name} depends on {dependency}, which is not a service"
            );
        }
        for volume in service.get("volumes").and_then(Yaml::as_vec).into_iter().flatten() {
            let source = volume.as_str().expect("text").split(':').next().unwrap_or_default();
            let exists = match source.strip_prefix("./") {
                Some(file) => root().join("deploy").join(file).is_file(),
                None => source.starts_with('/') || volumes.contains_key(source),
            };
            assert!(exists, "{name} mounts {source}, which does not exist");
        }
    }
    let variables: Vec<String> = read("deploy/compose.yaml")
        .split("${")
        .skip(1)
        .map(|text| text.split([':', '}']).next().unwrap_or_default().to_owned())
        .collect();
    let example = read("deploy/example.env");
    for name in variables {
        assert!(
            example.lines().any(|line| line.starts_with(&format!("{name}="))),
            "example.env lacks {name}"
        );
    }
}

#[test]
fn the_image_is_built_from_existing_files_and_runs_unprivileged() {
    let text = read("deploy/Dockerfile").replace("\\\n", " ");
    let mut settings = settings_of_the_image();
    assert!(settings.len() >= 5, "{settings:?}");
    settings.insert("SF_JWT_SECRET".to_owned(), PLACEHOLDER_VALUE.to_owned());
    assert_accepted(&settings);
    let lines_after = |word: &str| {
        text.lines().filter_map(move |line| line.strip_prefix(word)).map(str::trim).collect::<Vec<_>>()
    };
    assert_eq!(lines_after("USER "), ["songfoundry"]);
    assert_eq!(lines_after("ENTRYPOINT "), ["[\"songfoundry\"]"]);
    assert!(
        lines_after("HEALTHCHECK ").concat().contains(&format!("127.0.0.1:{}/readyz", settings["SF_PORT"]))
    );
    assert!(lines_after("RUN ").contains(&"scripts/build /made"));
    let artifacts = ["bin/songfoundry", "bin/songfoundry-bridge", "web"];
    let copied_files = lines_after("COPY --from=build ").concat();
    let script = read("scripts/build");
    for name in artifacts {
        assert!(
            copied_files.contains(&format!("/made/{name}"))
                && script.contains(name.rsplit('/').next().unwrap_or(name))
        );
    }
    let manifest = read("Cargo.toml");
    let needed_version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .expect("a version")
        .trim_end_matches('"')
        .to_owned();
    let minor =
        |text: &str| text.split('.').nth(1).and_then(|part| part.parse::<u32>().ok()).expect("a version");
    let image = text.lines().find_map(|line| line.strip_prefix("FROM rust:")).expect("Rust");
    assert!(
        minor(image.split('-').next().unwrap_or_default()) >= minor(&needed_version),
        "the image rust:{image} is older than rust-version {needed_version}"
    );
}

#[test]
fn the_unit_has_valid_settings() {
    let unit = read("deploy/songfoundry.service");
    let mut settings: BTreeMap<String, String> = unit
        .lines()
        .filter_map(|line| line.strip_prefix("Environment="))
        .map(|pair| pair.split_once('=').expect("a pair"))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    assert!(settings.contains_key("SF_STORAGE_DIR"), "{settings:?}");
    settings.insert("SF_JWT_SECRET".to_owned(), PLACEHOLDER_VALUE.to_owned());
    assert_accepted(&settings);
    for line in ["DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="] {
        assert!(unit.lines().any(|unit_line| unit_line == line), "{line} is missing");
    }
}

#[test]
fn the_manual_names_only_existing_settings() {
    for file in ["docs/operations.md", "README.md", "deploy/compose.yaml", "deploy/songfoundry.service"] {
        let text = read(file);
        let words = text.split(|character: char| {
            !(character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_')
        });
        let named_settings: Vec<&str> = words.filter(|word| word.starts_with("SF_")).collect();
        assert!(!named_settings.is_empty(), "{file} names no setting");
        for word in named_settings {
            // `SF_NAME` is a placeholder in the unit. Names such as `SF_S3_` refer to groups of
            // settings.
            let is_known = SETTINGS.iter().any(|setting| {
                setting.name == word || (word.ends_with('_') && setting.name.starts_with(word))
            });
            assert!(is_known || word == "SF_NAME", "{file} names {word}, which is not a setting");
        }
    }
}

/// Checks the unit with systemd, if systemd is installed.
#[test]
fn systemd_accepts_the_unit() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        eprintln!("NOT CHECKED: systemd-analyze is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let unit = folder.path().join("songfoundry.service");
    // systemd requires that the program exists, and it is not installed here.
    let text = read("deploy/songfoundry.service").replace("/opt/songfoundry/bin/songfoundry", "/bin/true");
    fs::write(&unit, text).expect("writes");
    let output =
        Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output().expect("runs");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !printed_text.contains("songfoundry.service:"), "{printed_text}");
}
