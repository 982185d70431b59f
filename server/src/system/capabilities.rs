//! `GET /system/capabilities`, which the web page requests before a user has logged in.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::config::{Config, Environment, InstrumentSound, Registration};
use crate::encoding::audio_format::{AudioFormat, BitDepth};
use crate::error::ApiResult;
use crate::extract::{DEFAULT_BODY_MAX_BYTES, Json};
use crate::listen::Https;
use crate::peer::Peer;
use crate::plugins::VstFormat;
use crate::projects::REVISIONS_KEPT;
use crate::state::AppState;

/// Interval of the web page's autosaves, in seconds.
const AUTOSAVE_SECS: u64 = 30;

/// Interval at which the web page checks whether another window has saved, in seconds.
const REVISION_POLL_SECS: u64 = 3;

/// Properties and capabilities of this installation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Capabilities {
    /// Version of the service.
    pub version: &'static str,
    /// Kind of deployment.
    pub environment: Environment,
    /// Renderer of plugins; always `bridge`.
    pub render_engine: &'static str,
    /// Whether SoundFont tracks are rendered by the server or by the client.
    pub instrument_sound: InstrumentSound,
    /// Whether this service can render notes with a SoundFont.
    pub soundfont_render: bool,
    /// Id of the SoundFont that replaces missing ones; null if none is installed.
    pub default_soundfont_id: Option<String>,
    /// Plugin formats that the helper can host; empty if there is no helper.
    pub plugin_formats: Vec<VstFormat>,
    /// Formats of audio files that can be uploaded.
    pub audio_formats: &'static [&'static str],
    /// Options for exported audio.
    pub export: ExportCapabilities,
    /// Whether `/ai_proxy` gives access to a language model.
    pub ai: bool,
    /// Limits on requests and stored data, and intervals of the web page.
    pub limits: Limits,
    /// Which people may register an account.
    pub registration: Registration,
    /// Whether the web page was loaded in a secure context, which is the case through loopback or
    /// HTTPS. Without a secure context, it cannot play sound.
    pub secure: bool,
}

/// Options for exported audio.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportCapabilities {
    /// File formats of exported audio.
    pub formats: &'static [&'static str],
    /// Sample formats of WAV files.
    pub bit_depths: &'static [BitDepth],
    /// Sample rates of WAV files in hertz.
    pub sample_rates_hz: &'static [u32],
    /// Capabilities of each file format.
    pub by_format: Vec<FormatCapabilities>,
}

/// Capabilities of a format of exported audio.
#[derive(Debug, Serialize, ToSchema)]
pub struct FormatCapabilities {
    /// Name of the format in requests, which is also the extension of its files.
    pub format: AudioFormat,
    /// Name of the format for people.
    pub name: &'static str,
    /// Purpose of the format, as a part of a sentence.
    pub purpose: &'static str,
    /// Whether a file can have a cover picture.
    pub has_cover: bool,
    /// Sample formats; empty for lossy formats.
    pub bit_depths: &'static [BitDepth],
    /// Sample rates in hertz.
    pub sample_rates_hz: &'static [u32],
    /// Bit rates in kilobits per second; empty if the format has none.
    pub bit_rates_kbps: &'static [u16],
    /// Whether the format has a variable quality from 0 to 10.
    pub has_quality: bool,
    /// Default bit rate in kilobits per second; null if the format has none.
    pub bit_rate_default_kbps: Option<u16>,
    /// Default quality; null if the format has none, or has a bit rate by default.
    pub quality_default: Option<u8>,
}

impl From<AudioFormat> for FormatCapabilities {
    fn from(format: AudioFormat) -> Self {
        let (bit_rate_default_kbps, quality_default) = match format.is_lossless() {
            true => (None, None),
            false => format.quality_default().split(),
        };
        Self {
            format,
            name: format.name(),
            purpose: format.purpose(),
            has_cover: format.has_cover(),
            bit_depths: format.bit_depths(),
            sample_rates_hz: format.sample_rates_hz(),
            bit_rates_kbps: format.bit_rates_kbps(),
            has_quality: format.has_variable_quality(),
            bit_rate_default_kbps,
            quality_default,
        }
    }
}

/// Limits on requests and stored data, and intervals of the web page.
#[derive(Debug, Serialize, ToSchema)]
pub struct Limits {
    /// Maximum size of an uploaded audio file in bytes.
    pub upload_max_bytes: u64,
    /// Maximum size of an uploaded SoundFont in bytes.
    pub soundfont_max_bytes: u64,
    /// Maximum size of a project document in bytes.
    pub project_max_bytes: u64,
    /// Maximum size of a bundle of a project and its audio in bytes.
    pub bundle_max_bytes: u64,
    /// Maximum size of a MIDI file in bytes.
    pub midi_max_bytes: u64,
    /// Maximum size of the body of every other request in bytes.
    pub body_max_bytes: u64,
    /// Maximum length of the tail of a render in seconds.
    pub tail_max_secs: u64,
    /// Maximum length of an audio file in seconds.
    pub audio_max_secs: u64,
    /// Maximum number of channels of an audio file.
    pub audio_max_channels: u64,
    /// Quota of one user in bytes for audio (including decoded copies) and SoundFonts. An
    /// administrator can set a different quota for a user.
    pub audio_quota_bytes: u64,
    /// Quota of one user in bytes for the kept revisions of their projects and for tasks.
    pub projects_quota_bytes: u64,
    /// Quota of one user in bytes for finished renders. The oldest renders are deleted first.
    pub renders_quota_bytes: u64,
    /// Maximum number of waiting and running tasks of one user.
    pub tasks_unfinished: i64,
    /// Maximum number of tasks of one user that run in a process at the same time.
    pub tasks_running: i64,
    /// Maximum number of requests of one user per minute; 0 means no limit.
    pub requests_per_minute: u64,
    /// Number of revisions of a project that are kept.
    pub revisions_kept: u32,
    /// Interval of the web page's autosaves, in seconds.
    pub autosave_secs: u64,
    /// Interval at which the web page checks whether another window has saved, in seconds.
    pub revision_poll_secs: u64,
}

impl From<&Config> for Limits {
    fn from(config: &Config) -> Self {
        let limits = &config.limits;
        Self {
            upload_max_bytes: limits.upload_max_bytes,
            soundfont_max_bytes: limits.soundfont_max_bytes,
            project_max_bytes: limits.project_max_bytes,
            bundle_max_bytes: limits.bundle_max_bytes,
            midi_max_bytes: limits.midi_max_bytes,
            body_max_bytes: DEFAULT_BODY_MAX_BYTES,
            tail_max_secs: limits.tail_max_secs,
            audio_max_secs: limits.audio.max_secs,
            audio_max_channels: limits.audio.max_channels,
            audio_quota_bytes: limits.audio.quota_bytes,
            projects_quota_bytes: limits.projects_quota_bytes,
            renders_quota_bytes: limits.renders_quota_bytes,
            tasks_unfinished: config.tasks.unfinished_per_user,
            tasks_running: i64::try_from(config.tasks.running_per_user).unwrap_or(i64::MAX),
            requests_per_minute: limits.requests.per_user_per_minute,
            revisions_kept: REVISIONS_KEPT,
            autosave_secs: AUTOSAVE_SECS,
            revision_poll_secs: REVISION_POLL_SECS,
        }
    }
}

/// Returns the properties and capabilities of this installation.
#[utoipa::path(get, path = "/system/capabilities", tag = "system", security(()),
    responses((status = 200, body = Capabilities)))]
pub(super) async fn read(
    State(state): State<AppState>,
    Peer(peer): Peer,
    https: Option<Extension<Https>>,
    headers: HeaderMap,
) -> ApiResult<Json<Capabilities>> {
    let config = &state.config;
    let snapshot = state.soundfonts.catalogue.current().await?;
    let default_soundfont = snapshot.default_soundfont();
    let sound = &config.sound;
    let is_proxied_https = config.network.trusted_proxies.contains(&peer.to_canonical())
        && headers.get("x-forwarded-proto").is_some_and(|value| value == "https");
    Ok(Json(Capabilities {
        version: env!("CARGO_PKG_VERSION"),
        environment: config.environment,
        render_engine: "bridge",
        instrument_sound: sound.instrument_sound,
        soundfont_render: sound.soundfont_render && default_soundfont.is_some(),
        default_soundfont_id: default_soundfont.map(|soundfont| soundfont.summary.soundfont_id.clone()),
        plugin_formats: state
            .plugin_hosts
            .formats()
            .await
            .unwrap_or_default()
            .into_iter()
            .map(Into::into)
            .collect(),
        audio_formats: crate::audio::FORMATS,
        export: ExportCapabilities {
            formats: &AudioFormat::EXTENSIONS,
            bit_depths: AudioFormat::default().bit_depths(),
            sample_rates_hz: AudioFormat::default().sample_rates_hz(),
            by_format: AudioFormat::ALL.iter().copied().map(Into::into).collect(),
        },
        ai: config.ai.upstream.is_some(),
        limits: config.into(),
        registration: config.accounts.registration,
        secure: https.is_some() || is_proxied_https || host_is_loopback(&headers),
    }))
}

/// Whether the browser's address for this page counts as secure without HTTPS.
fn host_is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("");
    let Ok(authority) = host.parse::<axum::http::uri::Authority>() else { return false };
    let name = authority.host().trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use crate::test_app::{Call, TestApp};

    const PATH: &str = "/api/v1/system/capabilities";

    fn through_https_proxy(call: Call<'_>) -> Call<'_> {
        call.header("host", "studio.example").header("x-forwarded-proto", "https")
    }

    #[tokio::test]
    async fn capabilities_are_public_and_depend_on_the_environment() {
        let desktop = TestApp::start().await.remote(Method::GET, PATH).send().await.expect(200);
        assert_eq!(desktop["environment"], "standalone");
        assert_eq!(desktop["instrument_sound"], "server");
        assert_eq!(desktop["render_engine"], "bridge");
        assert_eq!(desktop["limits"]["project_max_bytes"], 33_554_432);
        assert_eq!(desktop["limits"]["autosave_secs"], 30);
        let container = TestApp::container().await.remote(Method::GET, PATH).send().await.expect(200);
        assert_eq!(container["environment"], "container");
        assert_eq!(container["instrument_sound"], "client");
        let client_app = TestApp::with(&[("SF_INSTRUMENT_SOUND", "client")]).await;
        assert_eq!(
            client_app.local(Method::GET, PATH).send().await.expect(200)["instrument_sound"],
            "client"
        );
    }

    #[tokio::test]
    async fn only_loopback_and_https_count_as_secure() {
        let app = TestApp::with(&[("SF_TRUSTED_PROXIES", "192.0.2.77")]).await;
        for (host, secure) in [
            ("127.0.0.1:8600", true),
            ("localhost:8600", true),
            ("[::1]:8600", true),
            ("studio.localhost", true),
            ("192.168.1.20:8600", false),
            ("studio.example", false),
            ("localhost.example", false),
        ] {
            let answer = app.local(Method::GET, PATH).header("host", host).send().await;
            assert_eq!(answer.expect(200)["secure"], secure, "{host}");
        }
        let proxied = through_https_proxy(app.remote(Method::GET, PATH)).send().await;
        assert_eq!(proxied.expect(200)["secure"], true);
        // The header is ignored unless it comes from a proxy of the settings.
        let untrusted = through_https_proxy(app.local(Method::GET, PATH)).send().await;
        assert_eq!(untrusted.expect(200)["secure"], false);
    }
}
