/**
 * Frozen tracks: a track that plays a recording of itself, while its items, instrument and effects
 * stay as they are. Fader, pan, mute, solo and sends of a frozen track can still be changed.
 */
import type { AutomationLane, FrozenSound, Item, Project, TempoPoint, Track } from './model';
import { sideChainOf } from './routing';
import { updateTrack } from './update-track';

/** Constants, because the engine recognizes unchanged tracks by reference. */
const NO_ITEMS: Item[] = [];
const NO_EFFECTS: NonNullable<Track['effects']> = [];

/** Whether the recording of a frozen track contains the automation of a target. */
export const isInRecording = (target: string): boolean => target !== 'volume_db' && target !== 'pan' && !target.startsWith('send/');

/** Whether a track can be frozen: whether it has items to play. */
export const canFreeze = ({ kind, items }: Track): boolean =>
  (kind === 'instrument' || kind === 'audio') && items.some(({ type }) => type !== 'section');

export const freezeTrack = (project: Project, id: string, frozen: FrozenSound): Project =>
  updateTrack(project, id, (track) => ({ ...track, frozen }));

export const unfreezeTrack = (project: Project, id: string): Project => updateTrack(project, id, ({ frozen: _frozen, ...track }) => track);

/**
 * Returns the project without the parts that the recordings of frozen tracks replace. The engine
 * plays both alike, but needs no SoundFonts, plugins and audio files for these parts.
 */
export function withoutFrozenParts(project: Project): Project {
  if (!project.tracks.some((track) => track.frozen)) return project;
  return { ...project, tracks: project.tracks.map((track) => (track.frozen ? withoutFrozenPartsOf(track) : track)) };
}

/** Frozen tracks without the parts that their recordings replace, by the tracks of the project. */
const reducedTracks = new WeakMap<Track, Track>();

function withoutFrozenPartsOf(track: Track): Track {
  const knownTrack = reducedTracks.get(track);
  if (knownTrack) return knownTrack;
  const { synth_engine: _engine, bypass: _bypass, ...keptTrack } = track;
  const reducedTrack: Track = { ...keptTrack, items: NO_ITEMS, effects: NO_EFFECTS };
  reducedTracks.set(track, reducedTrack);
  return reducedTrack;
}

/** Whether the parts of a track that its recording replaces are equal in two tracks. */
function haveSameFrozenParts(a: Track, b: Track): boolean {
  const fields = ['items', 'effects', 'synth_engine', 'bypass', 'kind'] as const;
  return fields.every((field) => areEqual(a[field], b[field])) && areEqual(lockedLanes(a), lockedLanes(b));
}

const lockedLanes = ({ automation = [] }: Track): AutomationLane[] => automation.filter(({ target }) => isInRecording(target));

/** Compares values of a project; unchanged parts are the same objects. */
const areEqual = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/**
 * An edit that changes frozen parts of a track. `deletedSource` is the track whose deletion removes
 * a side-chain of the frozen track; null if the edit changes the frozen track itself.
 */
export type FrozenPartsChange = { frozenTrack: Track; deletedSource: Track | null };

/** Returns the first frozen track of which an edit changes frozen parts; null if there is none. */
export function frozenPartsChange(projectBefore: Project, projectAfter: Project): FrozenPartsChange | null {
  if (projectBefore === projectAfter) return null;
  const isChanged = (track: Track): boolean => {
    const editedTrack = projectAfter.tracks.find(({ id }) => id === track.id);
    return editedTrack !== undefined && editedTrack !== track && editedTrack.frozen === track.frozen && !haveSameFrozenParts(track, editedTrack);
  };
  const frozenTrack = projectBefore.tracks.find((track) => track.frozen && isChanged(track));
  if (!frozenTrack) return null;
  const remainingIds = new Set(projectAfter.tracks.map(({ id }) => id));
  const sourceIds = new Set((frozenTrack.effects ?? []).map(sideChainOf));
  const deletedSource = projectBefore.tracks.find(({ id }) => sourceIds.has(id) && !remainingIds.has(id)) ?? null;
  return { frozenTrack, deletedSource };
}

/** Returns why an edit of frozen parts is refused, and how the user can make it. */
export function describeFrozenPartsChange({ frozenTrack: { name }, deletedSource }: FrozenPartsChange): string {
  if (!deletedSource) return `${name} is frozen. Unfreeze it to edit its clips, instrument and effects.`;
  return `${deletedSource.name} feeds a side-chain of ${name}, which is frozen. Unfreeze ${name} to delete ${deletedSource.name}.`;
}

/**
 * Whether a track sounds the same in two projects before its fader, so that a recording of the
 * first project fits the second. Side-chains are part of the sound: tracks that feed them are
 * compared up to their faders, and tracks that feed buses and groups among these are compared
 * completely. May return false for an edit that is inaudible.
 */
export function soundsTheSame(id: string, a: Project, b: Project): boolean {
  return areEqual(soundInputs(a, id), soundInputs(b, id));
}

const SONG_FIELDS_IN_SOUND = ['sample_rate_hz', 'tempo_map', 'time_signatures', 'settings'] as const;

/** Returns all values that determine how a track sounds before its fader, unless it is frozen. */
function soundInputs(project: Project, trackId: string): unknown[] {
  const tracks = new Map(project.tracks.map((track) => [track.id, track]));
  const inputs: unknown[] = SONG_FIELDS_IN_SOUND.map((field) => project[field]);
  // The ids are in the order in which they were added. The loop also visits those that it adds.
  const visitedIds = new Set([trackId]);
  for (const id of visitedIds) {
    const track = tracks.get(id);
    if (!track) continue;
    const { kind, items, effects = [], synth_engine: engine, bypass } = track;
    inputs.push(id, kind, items, effects, engine, bypass, lockedLanes(track));
    if (id !== trackId) inputs.push(track.frozen);
    for (const effect of effects) {
      const sourceId = sideChainOf(effect);
      if (sourceId !== null) visitedIds.add(sourceId);
    }
    if (kind !== 'bus' && kind !== 'group') continue;
    for (const feeding of project.tracks) {
      if (feeding.output !== id && !feeding.sends?.some((send) => send.to === id)) continue;
      const { name: _name, color: _color, ...audibleFields } = feeding;
      inputs.push(audibleFields);
      visitedIds.add(feeding.id);
    }
  }
  return inputs;
}

/** Whether the tempo of the song has changed since a track was frozen. */
export function isFrozenAtOtherTempo({ tempo_map }: Project, { tempo_map: tempoThen }: FrozenSound): boolean {
  if (!tempoThen) return false;
  const isSame = (point: TempoPoint, index: number): boolean =>
    point.tick === tempoThen[index]?.tick && point.bpm === tempoThen[index].bpm;
  return tempo_map.length !== tempoThen.length || !tempo_map.every(isSame);
}
