/** The effects of a track or the master as a live chain of the service, without those of the engine. */
import type { LiveChainSettings, LiveEffect, LiveLane } from '@songfoundry/web-worklet';
import { MASTER_ID, type Effect, type Project, type Track } from './model';
import { secsAtTick } from './tempo';

/** A track or the master. */
export type LiveSource = Project['master'] | Track;

/** Returns a track or the master; null if the song does not have the track. */
export function channelOf(project: Project, channelId: string): LiveSource | null {
  return channelId === MASTER_ID ? project.master : (project.tracks.find(({ id }) => id === channelId) ?? null);
}

/** Whether a channel has effects that only the service can process. */
export const hasPlugins = ({ effects = [] }: LiveSource): boolean => effects.some(({ type }) => type !== 'builtin');

/** Returns why the effects of a channel cannot be a live chain; null if they can. */
export function liveProblem({ effects = [] }: LiveSource): string | null {
  for (const effect of effects) {
    const { side_chain: sideChain, impulse } = effect as { side_chain?: string | null; impulse?: string };
    const name = effect.type === 'builtin' ? effect.name : 'A plugin';
    if (sideChain) return `${name} has a side-chain, which only rendered sound contains.`;
    if (impulse !== undefined) return `${name} has an impulse response of its own, which only rendered sound contains.`;
  }
  return null;
}

const NO_EFFECTS: Effect[] = [];
const reducedSources = new WeakMap<LiveSource, LiveSource>();

/** Returns a channel without its effects and their automation; the same for the same channel. */
function withoutEffects<Source extends LiveSource>(source: Source): Source {
  let reduced = reducedSources.get(source) as Source | undefined;
  if (!reduced) {
    const automation = reducedLanes(source.automation);
    reduced = { ...source, effects: NO_EFFECTS, ...(automation ? { automation } : {}) };
    reducedSources.set(source, reduced);
  }
  return reduced;
}

/** Returns the song without the effects of some channels and their automation. */
export function withoutEffectsOf(project: Project, channelIds: ReadonlySet<string>): Project {
  if (channelIds.size === 0) return project;
  const master = channelIds.has(MASTER_ID) ? withoutEffects(project.master) : project.master;
  return { ...project, master, tracks: project.tracks.map((track) => (channelIds.has(track.id) ? withoutEffects(track) : track)) };
}

/**
 * Returns the song without the effects of live channels whose sound no rendered plugin processes.
 * The service needs the other ones to render that plugin's input.
 */
export function withoutUnneededEffects(project: Project, liveIds: ReadonlySet<string>): Project {
  const rendersPlugins = (id: string): boolean => {
    const source = channelOf(project, id);
    return source !== null && hasPlugins(source) && !liveIds.has(id);
  };
  const unneeded = [...liveIds].filter((id) => !destinationsOf(project, id).some(rendersPlugins));
  return withoutEffectsOf(project, new Set(unneeded));
}

/** Returns all channels that the sound of a channel reaches, also through side-chains. */
function destinationsOf(project: Project, channelId: string): string[] {
  const listens = ({ effects = [] }: LiveSource, id: string): boolean => effects.some((effect) => (effect as { side_chain?: string | null }).side_chain === id);
  const found = new Set<string>();
  const next = [channelId];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    const source = id;
    const track = project.tracks.find((candidate) => candidate.id === source);
    if (!track) continue;
    const listeners = project.tracks.filter((candidate) => listens(candidate, source)).map((candidate) => candidate.id);
    for (const to of [track.output ?? MASTER_ID, ...(track.sends ?? []).map((send) => send.to), ...listeners]) {
      if (!found.has(to)) next.push(to);
      found.add(to);
    }
  }
  return [...found];
}

type Lanes = NonNullable<LiveSource['automation']>;
const knownLanes = new WeakMap<Lanes, Lanes>();

/** Returns the lanes that belong to no effect; the same list for the same lanes. */
function reducedLanes(lanes: Lanes | undefined): Lanes | undefined {
  if (!lanes) return undefined;
  let reduced = knownLanes.get(lanes);
  if (!reduced) {
    reduced = lanes.filter(({ target }) => effectOf(target) === null);
    knownLanes.set(lanes, reduced);
  }
  return reduced;
}

/** Returns the effect and the parameter that a lane changes; null for other lanes, such as those of sends. */
function effectOf(target: string): { effect: string; param: string } | null {
  const slash = target.indexOf('/');
  const effect = target.slice(0, slash);
  return slash < 0 || effect === 'send' ? null : { effect, param: target.slice(slash + 1) };
}

/** Returns the chain of a channel that the service processes. */
export function liveChainOf(project: Project, channelId: string): LiveChainSettings {
  const { sample_rate_hz: sampleRateHz, settings, tempo_map: tempo } = project;
  const source = channelOf(project, channelId);
  const isBypassed = source !== null && 'bypass' in source && source.bypass === true;
  const effects = (source?.effects ?? []).map((effect): LiveEffect => {
    const { id, type, name, plugin_id, state, params, bypass } = effect as Effect & Partial<LiveEffect>;
    const fields = { name, plugin_id, state, params, bypass: isBypassed ? true : bypass };
    return { id, type, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
  });
  const trackId = channelId === MASTER_ID ? '' : channelId;
  return { sampleRateHz, seed: settings?.seed ?? 0, trackId, bpm: tempo[0]?.bpm ?? 120, effects };
}

/** Returns the automation of the effects of a channel, with times in frames. */
export function liveLanesOf({ tempo_map: tempo, sample_rate_hz: sampleRateHz }: Project, { automation = [] }: LiveSource): LiveLane[] {
  return automation.flatMap(({ target, points }) => {
    const parameter = effectOf(target);
    if (!parameter) return [];
    const timed = points.map(({ tick, value, curve = 'linear' }) => ({ frame: Math.round(secsAtTick(tempo, tick) * sampleRateHz), value, curve }));
    return [{ ...parameter, points: timed }];
  });
}

/** An edit of a chain that needs no new chain. */
export type LiveEdit = { effect: string; param: string; value: unknown } | { effect: string; bypass: boolean };

/** Returns the edits that lead from one chain to another; null if a new chain is needed. */
export function liveEdits(settingsBefore: LiveChainSettings, settingsAfter: LiveChainSettings): LiveEdit[] | null {
  const fixed = ({ effects, ...song }: LiveChainSettings): string =>
    JSON.stringify([song, effects.map(({ params, bypass: _bypass, state: _state, ...effect }) => [effect, Object.keys(params ?? {}).sort()])]);
  // States are large, so they are not written as JSON during the drag of a control.
  const haveStatesChanged = settingsAfter.effects.some(({ state }, index) => state !== settingsBefore.effects[index]?.state);
  if (haveStatesChanged || fixed(settingsBefore) !== fixed(settingsAfter)) return null;
  return settingsAfter.effects.flatMap((effect, index): LiveEdit[] => {
    const { params: oldParams = {}, bypass: wasBypassed = false } = settingsBefore.effects[index] ?? {};
    const edits: LiveEdit[] = Object.entries(effect.params ?? {})
      .filter(([param, value]) => value !== oldParams[param])
      .map(([param, value]) => ({ effect: effect.id, param, value }));
    const { bypass = false } = effect;
    return bypass === wasBypassed ? edits : [...edits, { effect: effect.id, bypass }];
  });
}
