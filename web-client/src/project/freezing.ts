/**
 * Frozen tracks: a track that plays a recording of itself, while its items, instrument and effects
 * stay as they are. Fader, pan, mute, solo and sends of a frozen track can still be changed.
 */
import type { AutomationLane, FrozenSound, Item, Project, TempoPoint, Track } from './model';
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
  const tracks = project.tracks.map((track): Track => {
    if (!track.frozen) return track;
    const { synth_engine: _engine, bypass: _bypass, ...kept } = track;
    return { ...kept, items: NO_ITEMS, effects: NO_EFFECTS };
  });
  return { ...project, tracks };
}

/** Whether the parts of a track that its recording replaces are equal in two tracks. */
export function haveSameFrozenParts(a: Track, b: Track): boolean {
  const fields = ['items', 'effects', 'synth_engine', 'bypass', 'kind'] as const;
  return fields.every((field) => areEqual(a[field], b[field])) && areEqual(lockedLanes(a), lockedLanes(b));
}

const lockedLanes = ({ automation = [] }: Track): AutomationLane[] => automation.filter(({ target }) => isInRecording(target));

/** Compares values of a project; unchanged parts are the same objects. */
const areEqual = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Returns a frozen track of which an edit changes parts that are frozen; null if there is none. */
export function changedFrozenTrack(before: Project, after: Project): Track | null {
  if (before === after) return null;
  const isChanged = (track: Track): boolean => {
    const edited = after.tracks.find(({ id }) => id === track.id);
    return edited !== undefined && edited !== track && edited.frozen === track.frozen && !haveSameFrozenParts(track, edited);
  };
  return before.tracks.find((track) => track.frozen && isChanged(track)) ?? null;
}

/** Whether the tempo of the song has changed since a track was frozen. */
export function isFrozenAtOtherTempo({ tempo_map }: Project, { tempo_map: tempoThen }: FrozenSound): boolean {
  if (!tempoThen) return false;
  const isSame = (point: TempoPoint, index: number): boolean =>
    point.tick === tempoThen[index]?.tick && point.bpm === tempoThen[index].bpm;
  return tempo_map.length !== tempoThen.length || !tempo_map.every(isSame);
}
