/** Fades overlapping audio clips into each other. */
import { framesAtTick, itemEndTick, sourceOfItem, type SongTime } from './audio-time';
import { clipsOf, type ClipIds } from './edit-clips';
import { setFades } from './edit-audio';
import type { AudioItem, Project } from './model';

/**
 * Fades each selected audio clip out, and the next one on its track in, where the two overlap.
 * Returns the same project if none overlap.
 */
export function crossfadeClips(project: Project, time: SongTime, ids: ClipIds): Project {
  let fadedProject = project;
  for (const track of new Set(clipsOf(project, ids).map((clip) => clip.track))) {
    const items = track.items.filter((item): item is AudioItem => item.type === 'audio').sort((a, b) => a.start_tick - b.start_tick);
    items.forEach((item, index) => {
      const next = items[index + 1];
      if (!next || !(ids.has(item.id) || ids.has(next.id))) return;
      const endTick = itemEndTick(time, item);
      if (endTick <= next.start_tick || itemEndTick(time, next) <= endTick) return;
      const overlapFrames = (clip: AudioItem): number => {
        const source = sourceOfItem(time, clip);
        return framesAtTick(time, source, endTick) - framesAtTick(time, source, next.start_tick);
      };
      fadedProject = changeFade(fadedProject, time, item.id, { out_frames: overlapFrames(item) });
      fadedProject = changeFade(fadedProject, time, next.id, { in_frames: overlapFrames(next) });
    });
  }
  return fadedProject;
}

function changeFade(project: Project, time: SongTime, id: string, fades: { in_frames?: number; out_frames?: number }): Project {
  const clip = clipsOf(project, new Set([id]))[0]?.item;
  return clip?.type === 'audio' ? setFades(project, time, clip, fades) : project;
}
