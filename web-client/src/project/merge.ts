/** Adding the tracks of an imported song to the open project. */
import { trackColor } from './colors';
import { copyOfItem } from './edit-items';
import { newId } from './ids';
import type { Project } from './model';

/** Whether a project has no clips. */
export function isEmptySong(project: Project): boolean {
  return project.tracks.every((track) => track.items.length === 0);
}

/**
 * Adds the tracks of `imported` under new ids. An empty song also takes its name, tempo, time
 * signatures and markers, and loses its empty tracks.
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
  // Other fields of the file stay, so that an export contains them.
  const known = new Set(Object.keys(project));
  const unknown = Object.fromEntries(Object.entries(imported).filter(([field]) => !known.has(field)));
  return { ...project, ...unknown, name, tempo_map, time_signatures, markers, tracks };
}

/** Whether two songs have the same tempo map. */
export function sameTempo(a: Project, b: Project): boolean {
  return (
    a.tempo_map.length === b.tempo_map.length &&
    a.tempo_map.every((point, index) => {
      const match = b.tempo_map[index];
      return match?.tick === point.tick && Math.abs(match.bpm - point.bpm) < 0.005;
    })
  );
}
