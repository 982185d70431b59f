/** Lists the uploaded audio files that a project uses. */
import { fileIdOf } from './audio-time';
import type { Project } from './model';

/**
 * Returns the ids of the files of a project's clips and frozen tracks, of its takes, and of its
 * effects' impulse responses.
 */
export function filesOf(project: Project): { clips: Set<string>; takes: Set<string>; impulses: Set<string> } {
  const clips = new Set<string>();
  const takes = new Set<string>();
  const impulses = new Set<string>();
  for (const track of project.tracks) {
    if (track.frozen) clips.add(track.frozen.server_file_id);
    for (const item of track.items) {
      const id = item.type === 'audio' ? fileIdOf(item) : null;
      if (id !== null) clips.add(id);
    }
    for (const take of track.takes ?? []) {
      const id = take.type === 'audio' ? fileIdOf(take) : null;
      if (id !== null) takes.add(id);
    }
  }
  for (const { effects = [] } of [...project.tracks, project.master]) {
    for (const effect of effects) {
      if (effect.type === 'builtin' && effect.impulse !== undefined) impulses.add(effect.impulse);
    }
  }
  return { clips, takes, impulses };
}
