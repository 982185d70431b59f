//! How the audio of a song is rendered, as requests say it.

use schemas::Project;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::any_case;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::plugins::{Source, checked_rate, checked_tail, document, refuse_unknown};
use crate::projects::ProjectDocument;
use crate::rendering::mix::MixOptions;
use crate::rendering::receipt::BitDepth;
use crate::state::AppState;

/// Longest tail where a request names none, in seconds.
const TAIL_DEFAULT_SECS: f64 = 5.0;

/// The project of a request, and how it is rendered.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderOptions {
    /// A stored project; exactly one of this and `project` is given.
    project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    project: Option<JsonText>,
    /// How samples stand in the files: `float32`, the default, or `pcm16`.
    #[serde(default, deserialize_with = "any_case::optional_word")]
    bit_depth: Option<BitDepth>,
    /// 44100, 48000 or 96000 Hz; the project's own rate by default.
    sample_rate_hz: Option<u32>,
    /// Longest time in seconds that the sound may ring on after the last item; 5 by default.
    tail_secs: Option<f64>,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    other: Map<String, Value>,
}

/// The same, checked, as the input of a task.
#[derive(Serialize, Deserialize)]
pub(super) struct RenderJob {
    source: Source,
    bit_depth: BitDepth,
    sample_rate_hz: Option<u32>,
    tail_secs: f64,
}

impl RenderOptions {
    /// What a request asks for.
    ///
    /// # Errors
    /// 400 for what cannot be done, 404 without such a project.
    pub(super) async fn checked(mut self, state: &AppState, user: &CurrentUser) -> ApiResult<RenderJob> {
        // Not held while the project is loaded.
        refuse_unknown(core::mem::take(&mut self.other).iter())?;
        let limit_secs = state.config.limits.tail_max_secs;
        Ok(RenderJob {
            bit_depth: self.bit_depth.unwrap_or(BitDepth::Float32),
            sample_rate_hz: self.sample_rate_hz.map(checked_rate).transpose()?,
            tail_secs: checked_tail(self.tail_secs, TAIL_DEFAULT_SECS, limit_secs)?,
            source: document(state, user, self.project_id, self.project).await?,
        })
    }
}

/// A project that is to be rendered.
pub(super) struct RenderedProject {
    /// As it is stored, in this version's form.
    pub(super) document: JsonText,
    pub(super) project: Project,
    pub(super) options: MixOptions,
}

impl RenderJob {
    /// About its length as JSON, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.source.size_bytes()
    }

    /// Reads and checks the project. Blocks.
    ///
    /// # Errors
    /// 400 `invalid_project`.
    pub(super) fn open(self) -> ApiResult<RenderedProject> {
        let (document, project) = self.source.into_project()?;
        let options = MixOptions {
            sample_rate_hz: self.sample_rate_hz.unwrap_or(project.sample_rate_hz),
            format: self.bit_depth.into(),
            tail_secs: self.tail_secs,
        };
        Ok(RenderedProject { document, project, options })
    }
}

/// A name that any system takes for a file, without an extension: what could be a folder, a
/// wildcard or a device's colon is `_`.
pub(super) fn file_stem(name: &str) -> String {
    const LONGEST_CHARS: usize = 100;
    let fits = |letter: char| !letter.is_control() && !"/\\:*?\"<>|".contains(letter);
    let safe: String =
        name.chars().take(LONGEST_CHARS).map(|letter| if fits(letter) { letter } else { '_' }).collect();
    let safe = safe.trim_matches([' ', '.']);
    if safe.is_empty() { "Untitled".to_owned() } else { safe.to_owned() }
}

/// 422 for a render that has nothing to say.
pub(super) fn nothing_to_render(what: &str) -> ApiError {
    ApiError::Unprocessable { code: "nothing_to_render", detail: format!("{what} has nothing to play.") }
}

#[cfg(test)]
mod tests {
    use super::file_stem;

    #[test]
    fn any_name_makes_a_file() {
        for (name, expected) in [
            ("Bass", "Bass"),
            ("../../etc", "_.._etc"),
            ("a/b\\c:d", "a_b_c_d"),
            (" .. ", "Untitled"),
            ("", "Untitled"),
            ("Ünï\n", "Ünï_"),
        ] {
            assert_eq!(file_stem(name), expected, "{name:?}");
        }
        assert_eq!(file_stem(&"é".repeat(500)).chars().count(), 100);
    }
}
