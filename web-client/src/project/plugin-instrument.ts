/** Edits the plugin instrument of a track: its state, and the values of its parameters. */
import { isPluginEngine, type AutomationLane, type PluginEngine, type Project, type Track } from './model';
import { versionField, withSavedState, type SavedState } from './plugin-state';
import { updateTrack } from './update-track';

/** Prefix of the automation targets that are parameters of the track's plugin instrument. */
const TARGET_PREFIX = 'instrument/';

/** Returns the plugin instrument of a track; null if it has none. */
export function pluginOf(track: Track | null): PluginEngine | null {
  return track && isPluginEngine(track.synth_engine) ? track.synth_engine : null;
}

export function targetOfParameter(parameterId: number | ''): string {
  return `${TARGET_PREFIX}${parameterId}`;
}

/** Returns the parameter that an automation target names; null for other targets. */
export function parameterOfTarget(target: string): string | null {
  const id = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : '';
  return /^\d+$/.test(id) ? id : null;
}

/**
 * Returns the lanes that automate the plugin instrument of a track: the first of each parameter.
 */
export function instrumentLanes(track: Track): { param: string; lane: AutomationLane }[] {
  if (!pluginOf(track)) return [];
  const lanes = new Map<string, AutomationLane>();
  for (const lane of track.automation ?? []) {
    const param = parameterOfTarget(lane.target);
    if (param !== null && !lanes.has(param)) lanes.set(param, lane);
  }
  return [...lanes].map(([param, lane]) => ({ param, lane }));
}

function updatePlugin(project: Project, trackId: string, change: (engine: PluginEngine) => PluginEngine): Project {
  return updateTrack(project, trackId, (track) => {
    const engine = pluginOf(track);
    return engine ? { ...track, synth_engine: change(engine) } : track;
  });
}

function withParams({ params: _params, ...engine }: PluginEngine, params: Record<string, number>): PluginEngine {
  return Object.keys(params).length > 0 ? { ...engine, params } : engine;
}

/** Sets a parameter to a normalized value, 0..1. */
export function setInstrumentParameter(project: Project, trackId: string, parameterId: number, value: number): Project {
  return updatePlugin(project, trackId, (engine) => withParams(engine, { ...engine.params, [parameterId]: value }));
}

/** Removes the values of parameters, so that those of the plugin's state apply. */
export function removeInstrumentParameters(project: Project, trackId: string, ids: readonly string[]): Project {
  return updatePlugin(project, trackId, (engine) =>
    withParams(engine, Object.fromEntries(Object.entries(engine.params ?? {}).filter(([id]) => !ids.includes(id)))),
  );
}

/** Sets the state of the plugin, or that of a new plugin for null, and removes all values. */
export const setInstrumentState = (project: Project, trackId: string, savedState: SavedState | null): Project =>
  updatePlugin(project, trackId, (engine) => withSavedState(engine, savedState));

/** Records the version of the plugin that the song is made with. */
export const setInstrumentVersion = (project: Project, trackId: string, version: string): Project =>
  updatePlugin(project, trackId, (engine) => ({ ...engine, ...versionField(version) }));
