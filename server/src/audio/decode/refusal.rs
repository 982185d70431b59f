//! Translates errors of the decoding library into reasons for users.

use std::io;

use symphonia::core::codecs::audio::well_known::{
    CODEC_ID_AAC, CODEC_ID_AC3, CODEC_ID_AC4, CODEC_ID_ADPCM_G722, CODEC_ID_ADPCM_G726,
    CODEC_ID_ADPCM_G726LE, CODEC_ID_ADPCM_IMA_QT, CODEC_ID_ADPCM_IMA_WAV, CODEC_ID_ADPCM_MS, CODEC_ID_DCA,
    CODEC_ID_EAC3, CODEC_ID_MP1, CODEC_ID_MP2, CODEC_ID_MUSEPACK, CODEC_ID_OPUS, CODEC_ID_SPEEX,
    CODEC_ID_TRUEHD, CODEC_ID_WAVPACK, CODEC_ID_WMA,
};
use symphonia::core::codecs::audio::{AudioCodecId, AudioCodecParameters};
use symphonia::core::errors::Error;

use super::Refusal;

/// Unsupported codecs, by name.
const UNSUPPORTED_CODECS: [(AudioCodecId, &str); 18] = [
    (CODEC_ID_OPUS, "Opus"),
    (CODEC_ID_SPEEX, "Speex"),
    (CODEC_ID_ADPCM_MS, "ADPCM (Microsoft)"),
    (CODEC_ID_ADPCM_IMA_WAV, "ADPCM (IMA)"),
    (CODEC_ID_ADPCM_IMA_QT, "ADPCM (IMA)"),
    (CODEC_ID_ADPCM_G722, "ADPCM (G.722)"),
    (CODEC_ID_ADPCM_G726, "ADPCM (G.726)"),
    (CODEC_ID_ADPCM_G726LE, "ADPCM (G.726)"),
    (CODEC_ID_MP1, "MPEG audio layer I"),
    (CODEC_ID_MP2, "MPEG audio layer II"),
    (CODEC_ID_AC3, "AC-3"),
    (CODEC_ID_EAC3, "E-AC-3"),
    (CODEC_ID_AC4, "AC-4"),
    (CODEC_ID_DCA, "DTS"),
    (CODEC_ID_TRUEHD, "TrueHD"),
    (CODEC_ID_MUSEPACK, "Musepack"),
    (CODEC_ID_WAVPACK, "WavPack"),
    (CODEC_ID_WMA, "WMA"),
];

/// Maximum number of AAC channels.
const AAC_CHANNELS_MAX: usize = 2;

/// Returns the refusal of a file of an unknown format.
pub(super) fn unknown_format() -> Refusal {
    Refusal::Unsupported("is not a supported kind of audio file".to_owned())
}

/// Returns the refusal for a failed read or write.
pub(super) fn disk_error(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Refusal::NoRoom
        }
        _ => Refusal::Io(error.to_string()),
    }
}

/// Returns the refusal for an error of `symphonia` while reading.
pub(super) fn refusal_of_error(error: Error) -> Refusal {
    match error {
        Error::IoError(error) if is_content_error(&error) => {
            Refusal::Malformed("ends in the middle of its header".to_owned())
        }
        Error::IoError(error) => disk_error(error),
        Error::Unsupported(message) if message.contains("no suitable format reader") => unknown_format(),
        Error::Unsupported(message) if message.contains("missing moov") => {
            Refusal::Malformed("is truncated or damaged: the index of its audio (moov) is missing".to_owned())
        }
        Error::Unsupported(message) if message.contains("missing data chunk") => {
            Refusal::Malformed("has no chunk with samples".to_owned())
        }
        Error::Unsupported(feature) => {
            Refusal::Unsupported(format!("has a structure or encoding that is not supported: {feature}"))
        }
        Error::LimitError(limit) => Refusal::Limit(format!("exceeds a limit of the decoder: {limit}")),
        Error::DecodeError(fault) => Refusal::Malformed(format!("is damaged: {fault}")),
        other_error => Refusal::Malformed(format!("is damaged: {other_error}")),
    }
}

/// Returns the refusal of a file whose codec has no decoder.
pub(super) fn no_decoder(params: &AudioCodecParameters, error: Error) -> Refusal {
    let channels = params.channels.as_ref().map_or(0, |channels| channels.count());
    match UNSUPPORTED_CODECS.iter().find(|(codec, _)| *codec == params.codec) {
        Some((_, name)) => Refusal::Unsupported(format!("is encoded as {name}, which is not supported")),
        None if params.codec == CODEC_ID_AAC && channels > AAC_CHANNELS_MAX => Refusal::Unsupported(format!(
            "is encoded as AAC with {channels} channels; AAC is supported with one or two"
        )),
        None if params.codec == CODEC_ID_AAC && matches!(error, Error::Unsupported(_)) => {
            Refusal::Unsupported(
                "is encoded as an unsupported kind of AAC; AAC-LC with one or two channels is supported"
                    .to_owned(),
            )
        }
        None => refusal_of_error(error),
    }
}

/// Whether an error is about the content (the file or a packet ends too early) and not about the
/// disk. Such an error was not reported by a system call.
pub(super) fn is_content_error(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}
