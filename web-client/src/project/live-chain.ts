/** The effects of the master as a live chain of the service, without those of the engine. */
import type { LiveChainSettings, LiveEffect, LiveLane } from '@songfoundry/web-worklet';
import type { Effect, Project } from './model';
import { secsAtTick } from './tempo';

type Master = Project['master'];

/** Whether the master has effects that only the service can process. */
export const hasMasterPlugins = ({ master }: Project): boolean => (master.effects ?? []).some(({ type }) => type !== 'builtin');

/** Returns why the master's effects cannot be a live chain; null if they can. */
export function liveProblem({ master }: Project): string | null {
  for (const effect of master.effects ?? []) {
    const { side_chain: sideChain, impulse } = effect as { side_chain?: string | null; impulse?: string };
    const name = effect.type === 'builtin' ? effect.name : 'A plugin';
    if (sideChain) return `${name} has a side-chain, which only rendered sound contains.`;
    if (impulse !== undefined) return `${name} has an impulse response of its own, which only rendered sound contains.`;
  }
  return null;
}

const NO_EFFECTS: Effect[] = [];
const reducedMasters = new WeakMap<Master, Master>();

/** Returns the song without the effects of the master and their automation, for the engine. */
export function withoutMasterEffects(project: Project): Project {
  const { master } = project;
  let reduced = reducedMasters.get(master);
  if (!reduced) {
    const automation = reducedLanes(master.automation);
    reduced = { ...master, effects: NO_EFFECTS, ...(automation ? { automation } : {}) };
    reducedMasters.set(master, reduced);
  }
  return { ...project, master: reduced };
}

type Lanes = NonNullable<Master['automation']>;
const knownLanes = new WeakMap<Lanes, Lanes>();

/** Returns the lanes that belong to no effect; the same list for the same lanes. */
function reducedLanes(lanes: Lanes | undefined): Lanes | undefined {
  if (!lanes) return undefined;
  let reduced = knownLanes.get(lanes);
  if (!reduced) {
    reduced = lanes.filter(({ target }) => !target.includes('/'));
    knownLanes.set(lanes, reduced);
  }
  return reduced;
}

/** Returns the chain that the service processes. */
export function liveChainOf({ master, sample_rate_hz: sampleRateHz, settings, tempo_map: tempo }: Project): LiveChainSettings {
  const effects = (master.effects ?? []).map((effect): LiveEffect => {
    const { id, type, name, plugin_id, state, params, bypass } = effect as Effect & Partial<LiveEffect>;
    const fields = { name, plugin_id, state, params, bypass };
    return { id, type, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
  });
  return { sampleRateHz, seed: settings?.seed ?? 0, bpm: tempo[0]?.bpm ?? 120, effects };
}

/** Returns the automation of the master's effects, with times in frames. */
export function liveLanesOf({ master, tempo_map: tempo, sample_rate_hz: sampleRateHz }: Project): LiveLane[] {
  return (master.automation ?? []).flatMap(({ target, points }) => {
    const slash = target.indexOf('/');
    if (slash < 0) return [];
    const timed = points.map(({ tick, value, curve = 'linear' }) => ({ frame: Math.round(secsAtTick(tempo, tick) * sampleRateHz), value, curve }));
    return [{ effect: target.slice(0, slash), param: target.slice(slash + 1), points: timed }];
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
