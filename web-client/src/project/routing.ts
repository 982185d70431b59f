/** Edits and examines the routing of tracks: outputs, sends and side-chains. */
import type { Effect, Project, Send, Track, TrackKind } from './model';
import { updateTrack } from './update-track';

/** Whether other tracks can feed a track of this kind. */
function hasInputs(kind: TrackKind): boolean {
  return kind === 'bus' || kind === 'group';
}

/** Returns the id of the track that feeds an effect's side-chain; null without a side-chain. */
export function sideChainOf(effect: Effect): string | null {
  const { side_chain: source } = effect as { side_chain?: unknown };
  return typeof source === 'string' ? source : null;
}

/** For each track, by id, the ids of the tracks that it feeds. */
type Routes = ReadonlyMap<string, readonly string[]>;

/** Returns the routes through outputs and sends. */
function audioRoutes(project: Project): Routes {
  return new Map(
    project.tracks.map((track) => {
      const sends = (track.sends ?? []).map((send) => send.to);
      return [track.id, track.output ? [track.output, ...sends] : sends];
    }),
  );
}

/** All routes of projects, because many parts of the page ask for those of the same project. */
const knownRoutes = new WeakMap<Project, Routes>();

/** Returns the routes through outputs, sends and side-chains. */
function allRoutes(project: Project): Routes {
  let routes = knownRoutes.get(project);
  if (!routes) {
    routes = collectRoutes(project);
    knownRoutes.set(project, routes);
  }
  return routes;
}

function collectRoutes(project: Project): Routes {
  const routes = new Map([...audioRoutes(project)].map(([id, destinationIds]) => [id, [...destinationIds]]));
  for (const track of project.tracks) {
    for (const effect of track.effects ?? []) routes.get(sideChainOf(effect) ?? '')?.push(track.id);
  }
  return routes;
}

/** Returns the ids of a track and of all tracks that it feeds, directly or through others. */
function reachableFrom(routes: Routes, id: string): Set<string> {
  const visitedIds = new Set<string>();
  const pendingIds = [id];
  for (let currentId = pendingIds.pop(); currentId !== undefined; currentId = pendingIds.pop()) {
    if (visitedIds.has(currentId)) continue;
    visitedIds.add(currentId);
    pendingIds.push(...(routes.get(currentId) ?? []));
  }
  return visitedIds;
}

/** Returns the buses and groups to which a track can be routed without a feedback loop. */
export function possibleTargets(project: Project, id: string): Track[] {
  const candidates = project.tracks.filter((track) => hasInputs(track.kind));
  if (candidates.length === 0) return candidates;
  const routes = allRoutes(project);
  return candidates.filter((track) => !reachableFrom(routes, track.id).has(id));
}

/**
 * Returns the tracks that can feed a side-chain of a track or the master without a feedback loop.
 * `channelId` is the id of the track, or `MASTER_ID`.
 */
export function possibleSideChains(project: Project, channelId: string): Track[] {
  const reachableIds = reachableFrom(allRoutes(project), channelId);
  return project.tracks.filter((track) => !reachableIds.has(track.id));
}

/** Sets the output of a track to a bus or group; null is the master. */
export function setOutput(project: Project, id: string, output: string | null): Project {
  return updateTrack(project, id, (track) => {
    if (output !== null) return { ...track, output };
    const { output: _previous, ...remaining } = track;
    return remaining;
  });
}

/** Level of a new send, in decibels. */
const NEW_SEND_DB = -12;

export function addSend(project: Project, id: string, destinationId: string): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: [...(track.sends ?? []), { to: destinationId, level_db: NEW_SEND_DB, pre_fader: false }],
  }));
}

/**
 * Changes the level of the send from track `id` to bus `destinationId`, or whether it is before the
 * fader.
 */
export function changeSend(project: Project, id: string, destinationId: string, change: Partial<Omit<Send, 'to'>>): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: (track.sends ?? []).map((send) => (send.to === destinationId ? { ...send, ...change } : send)),
  }));
}

/** Removes the send from track `id` to bus `destinationId`, and the automation of the send. */
export function removeSend(project: Project, id: string, destinationId: string): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: (track.sends ?? []).filter((send) => send.to !== destinationId),
    ...(track.automation ? { automation: track.automation.filter((lane) => lane.target !== `send/${destinationId}`) } : {}),
  }));
}

/** Removes all outputs, sends with their automation, and side-chains that refer to track `id`. */
export function withoutReferences(project: Project, id: string): Project {
  const tracks = project.tracks.map((track) => {
    const refers =
      track.output === id ||
      (track.sends ?? []).some((send) => send.to === id) ||
      (track.effects ?? []).some((effect) => sideChainOf(effect) === id);
    return refers ? withoutReference(track, id) : track;
  });
  const effects = project.master.effects;
  const masterRefers = effects?.some((effect) => sideChainOf(effect) === id) ?? false;
  const master = masterRefers && effects ? { ...project.master, effects: effects.map((effect) => withoutSource(effect, id)) } : project.master;
  return { ...project, tracks, master };
}

/** Returns the ids of the tracks to which a track refers: its output, sends and side-chains. */
export function referencesOf(track: Track): string[] {
  const sources = (track.effects ?? []).map(sideChainOf);
  const ids = [track.output ?? null, ...(track.sends ?? []).map((send) => send.to), ...sources];
  return [...new Set(ids.filter((id) => id !== null))];
}

function withoutReference(track: Track, id: string): Track {
  const { output, ...remaining } = track;
  return {
    ...remaining,
    ...(output !== undefined && output !== id ? { output } : {}),
    ...(track.sends ? { sends: track.sends.filter((send) => send.to !== id) } : {}),
    ...(track.effects ? { effects: track.effects.map((effect) => withoutSource(effect, id)) } : {}),
    ...(track.automation ? { automation: track.automation.filter((lane) => lane.target !== `send/${id}`) } : {}),
  };
}

type EffectWithSideChain = Effect & { side_chain?: string };

/** Sets the track whose signal feeds the side-chain of an effect; null removes the side-chain. */
export function withSideChain(effect: Effect, sourceId: string | null): Effect {
  const { side_chain: _previous, ...remaining } = effect as EffectWithSideChain;
  const changedEffect: EffectWithSideChain = sourceId === null ? remaining : { ...remaining, side_chain: sourceId };
  return changedEffect;
}

function withoutSource(effect: Effect, sourceId: string): Effect {
  return sideChainOf(effect) === sourceId ? withSideChain(effect, null) : effect;
}

/**
 * Returns whether each track is audible, by its id. Muted tracks are not audible. While any track
 * is soloed, only soloed tracks, the tracks that feed them and the tracks that they feed are
 * audible.
 */
export function audibleTracks(project: Project): Map<string, boolean> {
  const soloed = project.tracks.filter((track) => track.solo);
  if (soloed.length === 0) return new Map(project.tracks.map((track) => [track.id, !track.mute]));
  const routes = audioRoutes(project);
  const audibleIds = new Set(soloed.flatMap((track) => [...reachableFrom(routes, track.id)]));
  for (const track of project.tracks) {
    const reachableIds = reachableFrom(routes, track.id);
    if (soloed.some((solo) => reachableIds.has(solo.id))) audibleIds.add(track.id);
  }
  return new Map(project.tracks.map((track) => [track.id, !track.mute && audibleIds.has(track.id)]));
}
