//! Why a file is not taken, in plain words: what the libraries say is for those who know them.

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

/// Codings that are not read here, by name.
const NOT_READ: [(AudioCodecId, &str); 18] = [
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

/// Most channels of AAC that are read.
const AAC_CHANNELS_MAX: usize = 2;

/// No kind of file that is known.
pub(super) fn unknown() -> Refusal {
    Refusal::Unsupported("is no kind of audio file that is read here".to_owned())
}

/// The disk failed.
pub(super) fn disk(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Refusal::NoRoom
        }
        _ => Refusal::Io(error.to_string()),
    }
}

/// What an error while reading comes to.
pub(super) fn refusal(error: Error) -> Refusal {
    match error {
        Error::IoError(error) if is_of_the_file(&error) => {
            Refusal::Malformed("ends in the middle of its header".to_owned())
        }
        Error::IoError(error) => disk(error),
        Error::Unsupported(what) if what.contains("no suitable format reader") => unknown(),
        Error::Unsupported(what) if what.contains("missing moov") => Refusal::Malformed(
            "is cut off or damaged: the part that says where its sound lies (moov) is missing".to_owned(),
        ),
        Error::Unsupported(what) if what.contains("missing data chunk") => {
            Refusal::Malformed("has no part with samples".to_owned())
        }
        Error::Unsupported(_) => {
            Refusal::Unsupported("is built or coded in a way that is not read here".to_owned())
        }
        Error::LimitError(_) => Refusal::Limit("has parts that are larger than is read here".to_owned()),
        _ => Refusal::Malformed("is damaged".to_owned()),
    }
}

/// Why there is no decoder for a coding.
pub(super) fn not_decoded(params: &AudioCodecParameters, error: Error) -> Refusal {
    let channels = params.channels.as_ref().map_or(0, |channels| channels.count());
    match NOT_READ.iter().find(|(codec, _)| *codec == params.codec) {
        Some((_, name)) => Refusal::Unsupported(format!("is coded as {name}, which is not read here")),
        None if params.codec == CODEC_ID_AAC && channels > AAC_CHANNELS_MAX => Refusal::Unsupported(format!(
            "is coded as AAC with {channels} channels; AAC is read with one or two"
        )),
        None if params.codec == CODEC_ID_AAC && matches!(error, Error::Unsupported(_)) => {
            Refusal::Unsupported(
                "is coded as a kind of AAC that is not read here; AAC-LC with one or two channels is"
                    .to_owned(),
            )
        }
        None => refusal(error),
    }
}

/// Whether an error says something of the file's content rather than of the disk: the end of a file
/// or of a packet's bits, which no system call reports.
pub(super) fn is_of_the_file(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}
