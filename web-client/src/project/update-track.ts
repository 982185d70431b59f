import type { Project, Track } from './model';

/** Replaces one track by what `change` makes of it. */
export function updateTrack(project: Project, id: string, change: (track: Track) => Track): Project {
  return { ...project, tracks: project.tracks.map((track) => (track.id === id ? change(track) : track)) };
}
