//! Imports and deletes SoundFonts that users upload. All functions block.

use tokio::runtime::Handle;

use super::inspect::read_bank;
use super::store::{self, ContentId, UploadedBank};
use super::{SoundFontFormat, id_of_name};
use crate::error::{ApiError, ApiResult};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::rendering::{BankProblem, memory};
use crate::state::AppState;
use crate::storage::{Allowance, ReceivedFile, lock_contents, quarantine_deleted};

/// Maximum length of an id in characters, as in the project schema.
const ID_MAX_CHARS: usize = 128;

/// Maximum number of presets in all SoundFonts of a user. It limits the catalogue, which always
/// lists all of them.
const PRESETS_MAX: usize = 1 << 16;

/// Id and name of a SoundFont, derived from its file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileName {
    /// Id of the SoundFont.
    pub(super) id: String,
    /// Name of the SoundFont if the file does not contain one.
    stem: String,
}

impl FileName {
    /// Parses a file name.
    ///
    /// # Errors
    /// 422 `bad_soundfont_name` if the name has no letters and digits, or more than
    /// [`ID_MAX_CHARS`].
    pub(super) fn parse(name: &str) -> ApiResult<Self> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let stem = if SoundFontFormat::of_extension(extension).is_some() { stem } else { name };
        let id = id_of_name(stem);
        let chars = id.chars().count();
        if (1..=ID_MAX_CHARS).contains(&chars) {
            return Ok(Self { id, stem: stem.trim().to_owned() });
        }
        let shown_name: String = name.chars().filter(|character| !character.is_control()).take(40).collect();
        Err(ApiError::Unprocessable {
            code: "bad_soundfont_name",
            detail: format!(
                "The file name `{shown_name}` has {chars} letters and digits before its extension. They become the id of the \
                 SoundFont, which must have 1 to {ID_MAX_CHARS} characters; rename the file."
            ),
        })
    }
}

/// Result of an import.
#[derive(Debug)]
pub(super) struct ImportResult {
    /// The SoundFont as it is now stored.
    pub(super) uploaded_bank: UploadedBank,
    /// Whether the user already had the same file under this id.
    pub(super) is_already_stored: bool,
    /// Whether the import replaced another file of the user.
    pub(super) is_replacement: bool,
}

/// Returns how much a user may store under an id. The current files of that id count as freed.
pub(super) async fn allowance(state: &AppState, owner_id: &str, id: &str) -> ApiResult<Allowance> {
    let uploads = store::read_of_owner(&state.db, owner_id).await?;
    let remaining = uploads.iter().filter(|upload| upload.soundfont_id != id);
    let freed_bytes = total_bytes(uploads.iter()) - total_bytes(remaining);
    Ok(Allowance::load(state, owner_id).await?.after_freeing(freed_bytes))
}

/// Returns the total size of files in bytes. Files with identical bytes count only once.
fn total_bytes<'u>(files: impl Iterator<Item = &'u UploadedBank>) -> u64 {
    let mut contents: Vec<&ContentId> = files.map(|file| &file.content_id).collect();
    contents.sort_by(|a, b| a.sha256.cmp(&b.sha256));
    contents.dedup();
    contents.iter().map(|content| content.size_bytes).sum()
}

/// Validates a received file and stores it as a SoundFont of `owner_id`. An earlier SoundFont with
/// the same id and format is replaced.
///
/// # Errors
/// 415 if the file is not a SoundFont; 422 `soundfont_damaged` if it cannot be played; 422
/// `too_many_presets` beyond [`PRESETS_MAX`]; 507 if the user would exceed the quota.
pub(super) fn import(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    name: FileName,
    mut received_file: ReceivedFile,
) -> ApiResult<ImportResult> {
    let uploaded_bank = examine(name, &received_file)?;
    // The file is sent to object storage before the lock is taken, because all uploads and
    // deletions wait for the lock.
    received_file.writer.upload_as(&uploaded_bank.blob_key()?)?;
    let _contents = lock_contents(state, runtime)?;
    let uploads = runtime.block_on(store::read_of_owner(&state.db, owner_id))?;
    let has_same_id_and_format = |upload: &&UploadedBank| {
        (&upload.soundfont_id, upload.format) == (&uploaded_bank.soundfont_id, uploaded_bank.format)
    };
    let replaced_content =
        uploads.iter().find(has_same_id_and_format).map(|upload| upload.content_id.clone());
    let is_already_stored = replaced_content.as_ref() == Some(&uploaded_bank.content_id);
    let remaining = || uploads.iter().filter(|upload| !has_same_id_and_format(upload));
    let presets = remaining().map(|upload| upload.presets.len()).sum::<usize>() + uploaded_bank.presets.len();
    if presets > PRESETS_MAX {
        return Err(ApiError::Unprocessable {
            code: "too_many_presets",
            detail: format!(
                "With `{}`, your SoundFonts would have {presets} presets; at most {PRESETS_MAX} are allowed. Delete a SoundFont \
                 first.",
                uploaded_bank.name
            ),
        });
    }
    let freed_bytes = total_bytes(uploads.iter()) - total_bytes(remaining());
    let added_bytes = total_bytes(remaining().chain([&uploaded_bank])) - total_bytes(remaining());
    runtime.block_on(Allowance::load(state, owner_id))?.after_freeing(freed_bytes).check(added_bytes)?;
    // The file is stored even if its bytes are already stored, because the stored file may be lost.
    received_file.writer.finish_as(&uploaded_bank.blob_key()?)?;
    runtime.block_on(store::insert(&state.db, owner_id, &uploaded_bank))?;
    let replaced_content = replaced_content.filter(|_| !is_already_stored);
    if let Some(content) = &replaced_content {
        remove_if_unused(state, runtime, &content.sha256, uploaded_bank.format)?;
    }
    Ok(ImportResult { uploaded_bank, is_already_stored, is_replacement: replaced_content.is_some() })
}

/// Reads a received file as a SoundFont and checks that it can be played.
fn examine(name: FileName, received_file: &ReceivedFile) -> ApiResult<UploadedBank> {
    let bytes = memory::map(received_file.writer.temporary(), BANK_MAX_BYTES)?;
    let refusal_detail = |reason: &str| format!("`{}` cannot be used: {reason}.", received_file.name);
    let damaged_error =
        |reason: &str| ApiError::Unprocessable { code: "soundfont_damaged", detail: refusal_detail(reason) };
    let contents = read_bank(bytes).map_err(|error| match error {
        dsp_core::soundfont::BankError::NotASoundFont => ApiError::UnsupportedMedia {
            detail: format!("{} Upload an SF2 or SF3 file.", refusal_detail(&error.to_string())),
        },
        error => damaged_error(&BankProblem::Content(error).to_string()),
    })?;
    if let Some(problem) = contents.problem() {
        return Err(damaged_error(problem));
    }
    Ok(UploadedBank {
        soundfont_id: name.id,
        name: contents.name.unwrap_or(name.stem),
        content_id: ContentId { sha256: received_file.sha256.clone(), size_bytes: received_file.size_bytes },
        format: contents.format,
        presets: contents.presets,
        skipped_parts: contents.skipped_parts,
    })
}

/// Deletes a user's uploads with this id, both SF2 and SF3. Returns false if there are none.
///
/// # Errors
/// A query or the storage fails.
pub(super) fn delete(state: &AppState, runtime: &Handle, owner_id: &str, id: &str) -> ApiResult<bool> {
    let _contents = lock_contents(state, runtime)?;
    let deleted_contents = runtime.block_on(store::delete(&state.db, owner_id, id))?;
    for (sha256, format) in &deleted_contents {
        // Only the file is left: the row is deleted, and the periodic cleanup later finds files
        // without a row.
        if let Err(error) = remove_if_unused(state, runtime, sha256, *format) {
            tracing::warn!(
                id,
                "cannot delete the file of a deleted SoundFont; the periodic cleanup will try again: {error:#}"
            );
        }
    }
    Ok(!deleted_contents.is_empty())
}

/// Moves the file with this hash to the quarantine if no user has it any more. If the service
/// crashes before that, the file is later collected as an orphan.
fn remove_if_unused(
    state: &AppState,
    runtime: &Handle,
    sha256: &str,
    format: SoundFontFormat,
) -> ApiResult<()> {
    if !runtime.block_on(store::is_used(&state.db, sha256))? {
        quarantine_deleted(state, &state.blobs, &[store::blob_key_of(sha256, format)?])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FileName, id_of_name};

    #[track_caller]
    fn check(name: &str, id: &str, stem: &str) {
        let file_name = FileName::parse(name).expect("a file name");
        assert_eq!((&*file_name.id, &*file_name.stem), (id, stem), "{name}");
    }

    #[test]
    fn the_id_and_the_name_come_from_the_file_name() {
        check("My Bank.sf2", "mybank", "My Bank");
        check("C:\\sounds\\Größe 1.SF3", "größe1", "Größe 1");
        check("../../etc/passwd", "passwd", "passwd");
        check("Piano v1.2", "pianov12", "Piano v1.2");
        check(&format!("{}.sf2", "x".repeat(128)), &"x".repeat(128), &"x".repeat(128));
    }

    #[test]
    fn making_an_id_from_an_id_does_not_change_it() {
        for character in '\0'..=char::MAX {
            let id = id_of_name(&character.to_string());
            assert_eq!(id_of_name(&id), id, "{character:?}");
        }
    }

    #[test]
    fn a_file_name_with_no_or_too_many_letters_is_refused() {
        for name in ["", ".sf2", "???.sf2", "folder/", &format!("{}.sf2", "x".repeat(129))] {
            let error = FileName::parse(name).expect_err("is refused").to_string();
            assert!(error.contains("1 to 128"), "{error}");
        }
    }
}
