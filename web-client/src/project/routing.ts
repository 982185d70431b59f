/** The routing of tracks: outputs, sends and side-chains. */
import type { Effect, Project, Send, Track, TrackKind } from './model';
import { updateTrack } from './update-track';

/** Whether a track of this kind has inputs. */
function hasInputs(kind: TrackKind): boolean {
  return kind === 'bus' || kind === 'group';
}

/** The side-chain source of an effect; null for none. */
export function sideChainOf(effect: Effect): string | null {
  const { side_chain: source } = effect as { side_chain?: unknown };
  return typeof source === 'string' ? source : null;
}

/** The tracks that each track feeds, by its id. */
type Routes = ReadonlyMap<string, readonly string[]>;

/** The routes by outputs and sends. */
function audioRoutes(project: Project): Routes {
  return new Map(
    project.tracks.map((track) => {
      const sends = (track.sends ?? []).map((send) => send.to);
      return [track.id, track.output ? [track.output, ...sends] : sends];
    }),
  );
}

/** The routes by outputs, sends and side-chains. */
function allRoutes(project: Project): Routes {
  const routes = new Map([...audioRoutes(project)].map(([id, to]) => [id, [...to]]));
  for (const track of project.tracks) {
    for (const effect of track.effects ?? []) routes.get(sideChainOf(effect) ?? '')?.push(track.id);
  }
  return routes;
}

/** The ids of a track and of all tracks that it feeds, directly or not. */
function reached(routes: Routes, id: string): Set<string> {
  const found = new Set<string>();
  const next = [id];
  for (let current = next.pop(); current !== undefined; current = next.pop()) {
    if (found.has(current)) continue;
    found.add(current);
    next.push(...(routes.get(current) ?? []));
  }
  return found;
}

/** Buses and groups that a track can feed without a loop. */
export function possibleTargets(project: Project, id: string): Track[] {
  const routes = allRoutes(project);
  return project.tracks.filter((track) => hasInputs(track.kind) && !reached(routes, track.id).has(id));
}

/** Side-chain sources for an effect of `owner` that make no loop. */
export function possibleSideChains(project: Project, owner: string): Track[] {
  const fed = reached(allRoutes(project), owner);
  return project.tracks.filter((track) => !fed.has(track.id));
}

/** Sets the output of a track; null is the master. */
export function setOutput(project: Project, id: string, output: string | null): Project {
  return updateTrack(project, id, (track) => {
    if (output !== null) return { ...track, output };
    const { output: _before, ...remaining } = track;
    return remaining;
  });
}

/** Level of a new send, in decibels. */
const NEW_SEND_DB = -12;

export function addSend(project: Project, id: string, to: string): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: [...(track.sends ?? []), { to, level_db: NEW_SEND_DB, pre_fader: false }],
  }));
}

/** Changes the send of a track to a bus. */
export function changeSend(project: Project, id: string, to: string, change: Partial<Omit<Send, 'to'>>): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: (track.sends ?? []).map((send) => (send.to === to ? { ...send, ...change } : send)),
  }));
}

/** Removes a send and its automation. */
export function removeSend(project: Project, id: string, to: string): Project {
  return updateTrack(project, id, (track) => ({
    ...track,
    sends: (track.sends ?? []).filter((send) => send.to !== to),
    ...(track.automation ? { automation: track.automation.filter((lane) => lane.target !== `send/${to}`) } : {}),
  }));
}

/** Removes all outputs, sends and side-chains that refer to a track. */
export function withoutReferences(project: Project, id: string): Project {
  const tracks = project.tracks.map((track) => {
    const leads =
      track.output === id ||
      (track.sends ?? []).some((send) => send.to === id) ||
      (track.effects ?? []).some((effect) => sideChainOf(effect) === id);
    return leads ? withoutReference(track, id) : track;
  });
  const effects = project.master.effects;
  const audible = effects?.some((effect) => sideChainOf(effect) === id) ?? false;
  const master = audible && effects ? { ...project.master, effects: effects.map((effect) => withoutSource(effect, id)) } : project.master;
  return { ...project, tracks, master };
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

type Listening = Effect & { side_chain?: string };

/** Sets the side-chain source of an effect; null for none. */
export function withSideChain(effect: Effect, source: string | null): Effect {
  const { side_chain: _before, ...remaining } = effect as Listening;
  const changed: Listening = source === null ? remaining : { ...remaining, side_chain: source };
  return changed;
}

function withoutSource(effect: Effect, id: string): Effect {
  return sideChainOf(effect) === id ? withSideChain(effect, null) : effect;
}

/**
 * Whether each track is audible: it is not muted, and if any track is soloed, it feeds or is fed by
 * a soloed track.
 */
export function audibleTracks(project: Project): Map<string, boolean> {
  const soloed = project.tracks.filter((track) => track.solo);
  if (soloed.length === 0) return new Map(project.tracks.map((track) => [track.id, !track.mute]));
  const routes = audioRoutes(project);
  const audible = new Set(soloed.flatMap((track) => [...reached(routes, track.id)]));
  for (const track of project.tracks) {
    const fed = reached(routes, track.id);
    if (soloed.some((solo) => fed.has(solo.id))) audible.add(track.id);
  }
  return new Map(project.tracks.map((track) => [track.id, !track.mute && audible.has(track.id)]));
}
