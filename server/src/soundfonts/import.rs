//! Imports SoundFonts that users upload, and deletes them. Everything here blocks.

use tokio::runtime::Handle;

use super::inspect::look_into;
use super::store::{self, Content, Uploaded};
use super::{SoundFontFormat, id_of_name};
use crate::error::{ApiError, ApiResult};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::rendering::{BankProblem, memory};
use crate::state::AppState;
use crate::storage::{Allowance, Received, lock_contents, quarantine_deleted};

/// Longest id, in characters, as in the project's schema.
const ID_MAX_CHARS: usize = 128;

/// Most presets of all SoundFonts of a user: every list of them names each.
const PRESETS_MAX: usize = 1 << 16;

/// The id and the name in the name of a SoundFont's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileName {
    /// Id that it gets.
    pub(super) id: String,
    /// Its name, unless its file has another.
    stem: String,
}

impl FileName {
    /// Reads the name of a file.
    ///
    /// # Errors
    /// 422 `bad_soundfont_name`: no id can be made of it.
    pub(super) fn parse(name: &str) -> ApiResult<Self> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let stem = if SoundFontFormat::of_extension(extension).is_some() { stem } else { name };
        let id = id_of_name(stem);
        let chars = id.chars().count();
        if (1..=ID_MAX_CHARS).contains(&chars) {
            return Ok(Self { id, stem: stem.trim().to_owned() });
        }
        let shown: String = name.chars().filter(|letter| !letter.is_control()).take(40).collect();
        Err(ApiError::Unprocessable {
            code: "bad_soundfont_name",
            detail: format!(
                "The file name `{shown}` has {chars} letters and digits before its extension; the SoundFont's id is made of \
                 them, and has 1 to {ID_MAX_CHARS}."
            ),
        })
    }
}

/// An imported SoundFont.
#[derive(Debug)]
pub(super) struct Imported {
    /// The SoundFont that is stored now.
    pub(super) uploaded: Uploaded,
    /// Whether the user had this very file under this id before.
    pub(super) already_there: bool,
    /// Whether it replaced another file of the user.
    pub(super) replaced: bool,
}

/// How much a user may store under an id: the files that have the id now make room.
pub(super) async fn allowance(state: &AppState, owner_id: &str, id: &str) -> ApiResult<Allowance> {
    let own = store::of_owner(&state.db, owner_id).await?;
    let rest = own.iter().filter(|one| one.soundfont_id != id);
    Ok(Allowance::of(state, owner_id).await?.after_freeing(bytes(own.iter()) - bytes(rest)))
}

/// Bytes of files, each content once.
fn bytes<'u>(files: impl Iterator<Item = &'u Uploaded>) -> u64 {
    let mut contents: Vec<&Content> = files.map(|one| &one.content).collect();
    contents.sort_by(|one, other| one.sha256.cmp(&other.sha256));
    contents.dedup();
    contents.iter().map(|content| content.size_bytes).sum()
}

/// Opens a received file, and stores it as a SoundFont of `owner_id`, in place of an earlier one of
/// that id and format.
///
/// # Errors
/// 415 for what is no SoundFont, 422 for one that cannot be played, 507 beyond the quota.
pub(super) fn import(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    name: FileName,
    received: Received,
) -> ApiResult<Imported> {
    let uploaded = examine(name, &received)?;
    let _contents = lock_contents(state, runtime)?;
    let own = runtime.block_on(store::of_owner(&state.db, owner_id))?;
    let is_same_place =
        |one: &&Uploaded| (&one.soundfont_id, one.format) == (&uploaded.soundfont_id, uploaded.format);
    let replaced = own.iter().find(is_same_place).map(|one| one.content.clone());
    let already_there = replaced.as_ref() == Some(&uploaded.content);
    let rest = || own.iter().filter(|one| !is_same_place(one));
    let presets = rest().map(|one| one.presets.len()).sum::<usize>() + uploaded.presets.len();
    if presets > PRESETS_MAX {
        return Err(ApiError::Unprocessable {
            code: "too_many_presets",
            detail: format!(
                "With `{}` your SoundFonts have {presets} presets; at most {PRESETS_MAX} are accepted.",
                uploaded.name
            ),
        });
    }
    let freed_bytes = bytes(own.iter()) - bytes(rest());
    let added_bytes = bytes(rest().chain([&uploaded])) - bytes(rest());
    runtime.block_on(Allowance::of(state, owner_id))?.after_freeing(freed_bytes).check(added_bytes)?;
    // Also where it is there already: a file that was lost comes back so.
    received.writer.finish_as(&uploaded.key()?)?;
    runtime.block_on(store::put(&state.db, owner_id, &uploaded))?;
    let replaced = replaced.filter(|_| !already_there);
    if let Some(content) = &replaced {
        remove_if_nobodys(state, runtime, &content.sha256, uploaded.format)?;
    }
    Ok(Imported { uploaded, already_there, replaced: replaced.is_some() })
}

/// Reads a received file as a SoundFont.
fn examine(name: FileName, received: &Received) -> ApiResult<Uploaded> {
    let bytes = memory::map(received.writer.temporary(), BANK_MAX_BYTES)?;
    let refused = |why: &str| format!("`{}` cannot be used: {why}.", received.name);
    let damaged = |why: &str| ApiError::Unprocessable { code: "soundfont_damaged", detail: refused(why) };
    let found = look_into(bytes).map_err(|error| match error {
        dsp_core::soundfont::BankError::NotASoundFont => ApiError::UnsupportedMedia {
            detail: format!("{} Taken are SF2 and SF3 files.", refused(&error.to_string())),
        },
        other => damaged(&BankProblem::Content(other).to_string()),
    })?;
    if let Some(problem) = found.problem() {
        return Err(damaged(problem));
    }
    Ok(Uploaded {
        soundfont_id: name.id,
        name: found.name.unwrap_or(name.stem),
        content: Content { sha256: received.sha256.clone(), size_bytes: received.size_bytes },
        format: found.format,
        presets: found.presets,
        skipped: found.skipped,
    })
}

/// Deletes what a user has uploaded under an id, SF2 and SF3; false if that is nothing.
///
/// # Errors
/// When the database or the storage refuses.
pub(super) fn delete(state: &AppState, runtime: &Handle, owner_id: &str, id: &str) -> ApiResult<bool> {
    let _contents = lock_contents(state, runtime)?;
    let deleted = runtime.block_on(store::delete(&state.db, owner_id, id))?;
    for (sha256, format) in &deleted {
        remove_if_nobodys(state, runtime, sha256, *format)?;
    }
    Ok(!deleted.is_empty())
}

/// Moves the file of a content that no user has any more to the quarantine. Files that a crash
/// leaves are collected as orphans.
fn remove_if_nobodys(
    state: &AppState,
    runtime: &Handle,
    sha256: &str,
    format: SoundFontFormat,
) -> ApiResult<()> {
    if !runtime.block_on(store::is_had(&state.db, sha256))? {
        quarantine_deleted(state, &state.blobs, &[store::key(sha256, format)?])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FileName, id_of_name};

    #[track_caller]
    fn check(name: &str, id: &str, stem: &str) {
        let found = FileName::parse(name).expect("is a name");
        assert_eq!((&*found.id, &*found.stem), (id, stem), "{name}");
    }

    #[test]
    fn an_id_is_made_of_the_stem() {
        check("My Bank.sf2", "mybank", "My Bank");
        check("C:\\sounds\\Größe 1.SF3", "größe1", "Größe 1");
        check("../../etc/passwd", "passwd", "passwd");
        check("Piano v1.2", "pianov12", "Piano v1.2");
        check(&format!("{}.sf2", "x".repeat(128)), &"x".repeat(128), &"x".repeat(128));
    }

    #[test]
    fn an_id_is_its_own_id() {
        for letter in '\0'..=char::MAX {
            let id = id_of_name(&letter.to_string());
            assert_eq!(id_of_name(&id), id, "{letter:?}");
        }
    }

    #[test]
    fn a_name_without_an_id_is_refused() {
        for name in ["", ".sf2", "???.sf2", "folder/", &format!("{}.sf2", "x".repeat(129))] {
            let error = FileName::parse(name).expect_err("is refused").to_string();
            assert!(error.contains("1 to 128"), "{error}");
        }
    }
}
