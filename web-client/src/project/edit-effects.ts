/**
 * Edits effect chains. `channelId` is the id of a track, or `MASTER_ID`. An edit of an effect that
 * does not exist returns the same project.
 */
import type { VstPlugin } from '../api/types';
import { lanesOf, updateLanes } from './automation';
import type { EffectKind } from './effect-kinds';
import { findTrack } from './find-track';
import { newId } from './ids';
import { MASTER_ID, type AutomationLane, type Effect, type Project, type Track } from './model';
import { versionField, withSavedState, type SavedState } from './plugin-state';
import { withSideChain } from './routing';
import { updateTrack } from './update-track';

/** Returns the effects of a track or the master, in signal order. */
export function effectsOf(project: Project, channelId: string): readonly Effect[] {
  const holder = channelId === MASTER_ID ? project.master : findTrack(project, channelId);
  return holder?.effects ?? [];
}

function withEffects(project: Project, channelId: string, effects: Effect[]): Project {
  if (channelId === MASTER_ID) return { ...project, master: { ...project.master, effects } };
  return updateTrack(project, channelId, (track) => ({ ...track, effects }));
}

function updateEffect(project: Project, channelId: string, id: string, change: (effect: Effect) => Effect): Project {
  const effects = effectsOf(project, channelId);
  if (!effects.some((effect) => effect.id === id)) return project;
  return withEffects(
    project,
    channelId,
    effects.map((effect) => (effect.id === id ? change(effect) : effect)),
  );
}

/** Returns a new built-in effect with default parameters. */
export const builtInEffect = (kind: EffectKind): Effect => ({ id: newId('effect'), type: 'builtin', name: kind.id, params: {} });

/** Returns a new plugin effect with the parameters with which the plugin starts. */
export function pluginEffect({ format, plugin_id, name, version }: VstPlugin): Effect {
  return { id: newId('effect'), type: format, plugin_id, ...versionField(version), name, params: {} };
}

/** Inserts an effect, by default at the end; returns the effect's id. */
export function addEffect(
  project: Project,
  channelId: string,
  effect: Effect,
  index = Infinity,
): { project: Project; effectId: string } {
  const effects = effectsOf(project, channelId).toSpliced(Math.min(index, effectsOf(project, channelId).length), 0, effect);
  return { project: withEffects(project, channelId, effects), effectId: effect.id };
}

/** Removes an effect and its automation. */
export function removeEffect(project: Project, channelId: string, id: string): Project {
  const effects = effectsOf(project, channelId);
  const remaining = effects.filter((effect) => effect.id !== id);
  if (remaining.length === effects.length) return project;
  const updatedProject = withEffects(project, channelId, remaining);
  if (!lanesOf(project, channelId).some((lane) => automates(lane, id))) return updatedProject;
  return updateLanes(updatedProject, channelId, (lanes) => lanes.filter((lane) => !automates(lane, id)));
}

function automates(lane: AutomationLane, effectId: string): boolean {
  return lane.target.startsWith(`${effectId}/`);
}

/** Moves an effect within its chain; `index` is its index after the move. */
export function moveEffect(project: Project, channelId: string, id: string, index: number): Project {
  const effects = effectsOf(project, channelId);
  const fromIndex = effects.findIndex((effect) => effect.id === id);
  const effect = effects[fromIndex];
  const toIndex = Math.min(effects.length - 1, Math.max(0, index));
  if (!effect || toIndex === fromIndex) return project;
  return withEffects(project, channelId, effects.toSpliced(fromIndex, 1).toSpliced(toIndex, 0, effect));
}

/**
 * Inserts a copy of an effect after the effect, and returns the id of the copy. Returns null if
 * there is no such effect.
 */
export function duplicateEffect(
  project: Project,
  channelId: string,
  id: string,
): { project: Project; effectId: string } | null {
  const effects = effectsOf(project, channelId);
  const fromIndex = effects.findIndex((effect) => effect.id === id);
  const effect = effects[fromIndex];
  if (!effect) return null;
  const copy: Effect = { ...effect, id: newId('effect') };
  return { project: withEffects(project, channelId, effects.toSpliced(fromIndex + 1, 0, copy)), effectId: copy.id };
}

export function setEffectParameter(
  project: Project,
  channelId: string,
  id: string,
  parameter: string,
  value: number | string | boolean,
): Project {
  return updateEffect(project, channelId, id, (effect) => ({ ...effect, params: { ...effect.params, [parameter]: value } }));
}

/** Resets every parameter to its default, and a plugin to the state with which it starts. */
export function resetEffect(project: Project, channelId: string, id: string): Project {
  return updateEffect(project, channelId, id, (effect) => ({ ...(effect.type === 'builtin' ? effect : withSavedState(effect, null)), params: {} }));
}

/** Sets the state of a plugin effect, and removes all values of parameters. */
export function setEffectState(project: Project, channelId: string, id: string, savedState: SavedState): Project {
  return updateEffect(project, channelId, id, (effect) => (effect.type === 'builtin' ? effect : { ...withSavedState(effect, savedState), params: {} }));
}

/** Records the version of a plugin effect that the song is made with. */
export function setEffectVersion(project: Project, channelId: string, id: string, version: string): Project {
  return updateEffect(project, channelId, id, (effect) => (effect.type === 'builtin' ? effect : { ...effect, ...versionField(version) }));
}

export function setEffectBypass(project: Project, channelId: string, id: string, bypass: boolean): Project {
  return updateEffect(project, channelId, id, (effect) => ({ ...effect, bypass }));
}

/** Sets the track whose signal feeds the side-chain of an effect; null removes the side-chain. */
export function setSideChain(project: Project, channelId: string, id: string, source: string | null): Project {
  return updateEffect(project, channelId, id, (effect) => withSideChain(effect, source));
}

/**
 * The parameter of the convolution effect that chooses the impulse response, and the parameter's
 * value for an audio file of the user.
 */
const RESPONSE = { parameter: 'response', ownFile: 0 };

/** Makes an audio file the impulse response of a convolution effect; null removes the file. */
export function setImpulse(project: Project, channelId: string, id: string, fileId: string | null): Project {
  return updateEffect(project, channelId, id, (effect) => {
    if (effect.type !== 'builtin') return effect;
    const { impulse: _previous, ...remaining } = effect;
    if (fileId === null) return remaining;
    return { ...remaining, impulse: fileId, params: { ...remaining.params, [RESPONSE.parameter]: RESPONSE.ownFile } };
  });
}

/** Returns copies of the effects and the automation of a track. The copied effects get new ids. */
export function copyOfChain(track: Track): Pick<Track, 'effects' | 'automation'> {
  const { effects = [], automation } = track;
  const ids = new Map(effects.map((effect) => [effect.id, newId('effect')]));
  const targetOf = (target: string): string => {
    const [effectId = '', parameter] = target.split('/');
    const copiedId = ids.get(effectId);
    return copiedId !== undefined && parameter !== undefined ? `${copiedId}/${parameter}` : target;
  };
  return {
    ...(track.effects ? { effects: effects.map((effect) => ({ ...effect, id: ids.get(effect.id) ?? effect.id })) } : {}),
    ...(automation ? { automation: automation.map((lane) => ({ ...lane, target: targetOf(lane.target) })) } : {}),
  };
}
