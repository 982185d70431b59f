/** Edits tracks, tempo and time signatures. */
import { trackColor } from './colors';
import { copyOfChain } from './edit-effects';
import { copyOfItem } from './edit-items';
import { signatureIndexAt } from './grid';
import { newId } from './ids';
import type { Project, SynthEngine, TimeSignature, Track, TrackKind } from './model';
import { withoutReferences } from './routing';
import { tempoIndexAt } from './tempo';

type Denominator = TimeSignature['denominator'];
const DENOMINATORS: readonly Denominator[] = [1, 2, 4, 8, 16, 32, 64, 128];

/** Appends a track and returns its id. `engine` is the track's instrument, or null for none. */
export function addTrack(
  project: Project,
  name: string,
  engine: SynthEngine | null,
  kind: TrackKind = 'instrument',
): { project: Project; trackId: string } {
  const track: Track = {
    id: newId('track'),
    name,
    kind,
    color: trackColor(project.tracks.length),
    volume_db: 0,
    pan: 0,
    mute: false,
    solo: false,
    items: [],
    ...(engine ? { synth_engine: engine } : {}),
  };
  return { project: { ...project, tracks: [...project.tracks, track] }, trackId: track.id };
}

/** Removes a track and every output, send and side-chain that refers to the track. */
export function removeTrack(project: Project, id: string): Project {
  return withoutReferences({ ...project, tracks: project.tracks.filter((track) => track.id !== id) }, id);
}

/** Returns a copy of a track and its items with new ids. */
export function copyOfTrack(track: Track): Track {
  return { ...track, ...copyOfChain(track), id: newId('track'), items: track.items.map(copyOfItem) };
}

/** Inserts a copy of a track, with its items, below the track; returns the id of the copy. */
export function duplicateTrack(project: Project, id: string): { project: Project; trackId: string } | null {
  const index = project.tracks.findIndex((track) => track.id === id);
  const track = project.tracks[index];
  if (!track) return null;
  const copy: Track = { ...copyOfTrack(track), name: `${track.name} copy` };
  const tracks = project.tracks.toSpliced(index + 1, 0, copy);
  return { project: { ...project, tracks }, trackId: copy.id };
}

/** Moves a track down by a number of tracks; a negative number moves it up. */
export function moveTrack(project: Project, id: string, offset: number): Project {
  const fromIndex = project.tracks.findIndex((track) => track.id === id);
  const track = project.tracks[fromIndex];
  const toIndex = Math.min(project.tracks.length - 1, Math.max(0, fromIndex + offset));
  if (!track || toIndex === fromIndex) return project;
  return { ...project, tracks: project.tracks.toSpliced(fromIndex, 1).toSpliced(toIndex, 0, track) };
}

/** Sets the tempo that is in force at `tick`, limited to 1 to 999 quarter notes a minute. */
export function setTempoAt(project: Project, tick: number, bpm: number): Project {
  const index = tempoIndexAt(project.tempo_map, tick);
  const value = Math.min(999, Math.max(1, Math.round(bpm * 100) / 100));
  if (project.tempo_map[index]?.bpm === value) return project;
  return {
    ...project,
    tempo_map: project.tempo_map.map((point, i) => (i === index ? { ...point, bpm: value } : point)),
  };
}

/** Sets the time signature that is in force at `tick`. */
export function setSignatureAt(project: Project, tick: number, numerator: number, denominator: Denominator): Project {
  const index = signatureIndexAt(project.time_signatures, tick);
  return {
    ...project,
    time_signatures: project.time_signatures.map((signature, i) =>
      i === index ? { ...signature, numerator, denominator } : signature,
    ),
  };
}

/**
 * Reads a time signature such as `4/4`. Returns null unless the numerator is 1 to 255 and the
 * denominator is a power of two up to 128.
 */
export function parseSignature(text: string): { numerator: number; denominator: Denominator } | null {
  const match = /^\s*(\d{1,3})\s*\/\s*(\d{1,3})\s*$/.exec(text);
  if (!match) return null;
  const numerator = Number(match[1]);
  const denominator = Number(match[2]);
  const validDenominator = DENOMINATORS.find((value) => value === denominator);
  return numerator >= 1 && numerator <= 255 && validDenominator ? { numerator, denominator: validDenominator } : null;
}
