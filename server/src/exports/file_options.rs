//! The options of an export that concern the file: format, quality and tags.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

use super::unknown_options::refuse_unknown;
use crate::encoding::audio_format::{AudioFormat, in_words};
use crate::encoding::quality::Quality;
use crate::encoding::tags::{BadTag, Tags, UncheckedTags};
use crate::error::{ApiError, ApiResult};

/// Format, quality and tags of a file.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct FileOptions {
    /// File format; `wav` by default.
    #[schema(value_type = Option<AudioFormat>)]
    format: Option<String>,
    /// Bit rate of an MP3 or Opus file in kilobits per second. MP3 has a constant bit rate, 320 by
    /// default; for Opus it is the average, 160 by default.
    #[schema(schema_with = bit_rate_choices)]
    bit_rate_kbps: Option<u32>,
    /// Quality of an Ogg Vorbis or MP3 file with a variable bit rate; 10 is the best. The default
    /// of Ogg Vorbis is 6.
    #[schema(minimum = 0, maximum = 10)]
    quality: Option<u32>,
    /// Tags of the file.
    metadata: Option<Metadata>,
}

/// Tags of a file. The title also names the file in the browser.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = RenderMetadata)]
struct Metadata {
    /// Title; at most 1,024 bytes, like the other texts. In a render, the default is the
    /// project's name.
    title: Option<String>,
    /// Artist.
    artist: Option<String>,
    /// Album.
    album: Option<String>,
    /// Genre.
    genre: Option<String>,
    /// Year of the recording.
    #[schema(minimum = 1, maximum = 9999)]
    year: Option<u32>,
    /// Comment; at most 65,536 bytes. Only a comment may contain line breaks.
    comment: Option<String>,
    /// International Standard Recording Code (ISO 3901), such as `GB-A1B-23-00001`, with or without
    /// hyphens.
    isrc: Option<String>,
    /// Cover picture: a JPEG or PNG file of at most 1 MiB in base64. WAV files cannot contain one.
    #[schema(content_encoding = "base64")]
    cover: Option<String>,
    /// Fields that this version cannot write.
    #[serde(flatten)]
    #[schema(ignore)]
    unknown_fields: Map<String, Value>,
}

/// Validated options of a file.
#[derive(Debug, Default)]
pub(super) struct CheckedFile {
    pub(super) format: AudioFormat,
    pub(super) quality: Quality,
    /// `None` leaves out the description of a WAV file.
    pub(super) tags: Option<Tags>,
}

impl FileOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// 400, with a detail that names the invalid option.
    pub(super) fn check(self) -> ApiResult<CheckedFile> {
        let Self { format, bit_rate_kbps, quality, metadata } = self;
        let format = match format {
            None => AudioFormat::default(),
            Some(name) => AudioFormat::of_extension(&name).ok_or_else(|| unknown_format(&name))?,
        };
        let quality = format
            .check_quality(bit_rate_kbps, quality)
            .map_err(|detail| ApiError::bad_request("unsupported_quality", detail))?;
        let tags = metadata.unwrap_or_default().check()?;
        if tags.cover.is_some() && !format.has_cover() {
            let name = format.name();
            let detail = format!(
                "A {name} file has no cover picture; leave out `metadata.cover`, or choose another format."
            );
            return Err(ApiError::bad_request("bad_metadata", detail));
        }
        Ok(CheckedFile { format, quality, tags: Some(tags) })
    }
}

impl Metadata {
    fn check(self) -> ApiResult<Tags> {
        let Self { title, artist, album, genre, year, comment, isrc, cover, unknown_fields } = self;
        refuse_unknown(unknown_fields.iter())?;
        let tags = UncheckedTags { title, artist, album, genre, year, comment, isrc, cover };
        tags.check().map_err(|BadTag { name, problem }| {
            ApiError::bad_request("bad_metadata", format!("`metadata.{name}` {problem}"))
        })
    }
}

/// Returns the schema of the bit rates of all formats, or null.
fn bit_rate_choices() -> Object {
    let mut rates: Vec<u16> =
        AudioFormat::ALL.iter().flat_map(|format| format.bit_rates_kbps()).copied().collect();
    rates.sort_unstable();
    rates.dedup();
    let values = rates.into_iter().map(Value::from).chain([Value::Null]);
    let types = SchemaType::from_iter([Type::Integer, Type::Null]);
    ObjectBuilder::new().schema_type(types).enum_values(Some(values)).build()
}

fn unknown_format(name: &str) -> ApiError {
    let known_extensions = AudioFormat::EXTENSIONS.map(|extension| format!("`{extension}`"));
    let detail =
        format!("The format `{name}` is not supported; supported formats: {}.", in_words(&known_extensions));
    ApiError::bad_request("unsupported_format", detail)
}
