//! Renders the sounds of the plugins of a song, without a mix.

use schemas::Project;
use schemas::project::{EffectType, SynthEngine};

use super::sources::{PreparedRender, RenderedTracks, Sources};
use super::{Observer, RenderError};

/// Whether a project has plugin instruments or plugin effects.
#[must_use]
pub fn has_plugins(project: &Project) -> bool {
    let effects = project.tracks.iter().flat_map(|track| &track.effects).chain(&project.master.effects);
    let is_plugin_engine = |engine: &SynthEngine| !matches!(engine, SynthEngine::SoundFont(_));
    project.tracks.iter().filter_map(|track| track.synth_engine.as_ref()).any(is_plugin_engine)
        || effects.into_iter().any(|effect| effect.effect_type != EffectType::Builtin)
}

/// Makes the plugin instruments and plugin effects of a project render their sounds.
///
/// # Errors
/// [`RenderError`].
pub fn render_plugins(
    project: &Project,
    sources: &mut dyn Sources,
    observer: Observer<'_>,
) -> Result<(), RenderError> {
    let mut prepared_render =
        PreparedRender::open(project, sources, RenderedTracks::Routed(&|_| true), observer)?;
    let mut session = std::mem::take(&mut prepared_render.session);
    prepared_render.play_plugin_effects(&mut session, sources, observer)
}
