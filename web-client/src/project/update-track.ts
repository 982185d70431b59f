import type { Project, Track } from './model';

/** Replaces the track `id` with the result of `change`. */
export function updateTrack(project: Project, id: string, change: (track: Track) => Track): Project {
  return { ...project, tracks: project.tracks.map((track) => (track.id === id ? change(track) : track)) };
}
