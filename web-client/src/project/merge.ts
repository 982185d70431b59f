/** Bringing an imported song's tracks into the open project. */
import { trackColor } from './colors';
import { copyOfItem } from './edit-items';
import { newId } from './ids';
import type { Project } from './model';

/** Whether a project holds nothing that could be heard. */
export function isEmptySong(project: Project): boolean {
  return project.tracks.every((track) => track.items.length === 0);
}

/**
 * The project with the tracks of `imported` added under new ids. An empty
 * song takes the name, tempo, time signatures and markers as well, and drops
 * tracks on which nothing was made.
 */
export function addImported(project: Project, imported: Project): Project {
  const empty = isEmptySong(project);
  const kept = empty ? [] : project.tracks;
  const added = imported.tracks.map((track, index) => ({
    ...track,
    id: newId('track'),
    color: trackColor(kept.length + index),
    items: track.items.map(copyOfItem),
  }));
  const tracks = [...kept, ...added];
  if (!empty) return { ...project, tracks };
  const { name, tempo_map, time_signatures, markers } = imported;
  // What else the file says of itself, and an export says again.
  const known = new Set(Object.keys(project));
  const unknown = Object.fromEntries(Object.entries(imported).filter(([field]) => !known.has(field)));
  return { ...project, ...unknown, name, tempo_map, time_signatures, markers, tracks };
}

/** Whether both songs run at one and the same tempo throughout. */
export function sameTempo(a: Project, b: Project): boolean {
  return (
    a.tempo_map.length === b.tempo_map.length &&
    a.tempo_map.every((point, index) => {
      const match = b.tempo_map[index];
      return match?.tick === point.tick && Math.abs(match.bpm - point.bpm) < 0.005;
    })
  );
}
