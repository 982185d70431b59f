/** Adds the tracks of an imported song to the open project. */
import { trackColor } from './colors';
import { copyOfItem } from './edit-items';
import { newId } from './ids';
import type { Project } from './model';

/** Whether a project has no clips. */
export function isEmptySong(project: Project): boolean {
  return project.tracks.every((track) => track.items.length === 0);
}

/**
 * Adds the tracks of `imported` under new ids. If `project` has no clips, the result has only the
 * imported tracks, and also the name, tempo, time signatures and markers of `imported`.
 */
export function addImported(project: Project, imported: Project): Project {
  const isEmpty = isEmptySong(project);
  const keptTracks = isEmpty ? [] : project.tracks;
  const addedTracks = imported.tracks.map((track, index) => ({
    ...track,
    id: newId('track'),
    color: trackColor(keptTracks.length + index),
    items: track.items.map(copyOfItem),
  }));
  const tracks = [...keptTracks, ...addedTracks];
  if (!isEmpty) return { ...project, tracks };
  const { name, tempo_map, time_signatures, markers } = imported;
  // Imported fields that `project` lacks are added, because an export should contain them.
  const projectFields = new Set(Object.keys(project));
  const addedFields = Object.fromEntries(Object.entries(imported).filter(([field]) => !projectFields.has(field)));
  return { ...project, ...addedFields, name, tempo_map, time_signatures, markers, tracks };
}

/** Whether two songs have the same tempo map. Tempos may differ by less than 0.005 BPM. */
export function sameTempo(first: Project, second: Project): boolean {
  return (
    first.tempo_map.length === second.tempo_map.length &&
    first.tempo_map.every((point, index) => {
      const match = second.tempo_map[index];
      return match?.tick === point.tick && Math.abs(match.bpm - point.bpm) < 0.005;
    })
  );
}
