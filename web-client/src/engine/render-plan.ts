/** Chooses the tracks that the service renders, within a memory limit. */
import type { Project, Track } from '../project/model';
import { renderRequestOf, type Renderer, type RenderRequest } from './render-requests';

/**
 * Memory limit for rendered tracks, in bytes. Ten minutes of a SoundFont track with its sends need
 * 460 MB at 48 kHz, so the service renders only some of the tracks of a long song.
 */
export const AUDIO_MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Bytes of a frame of a rendered track, which has 32-bit float samples. A SoundFont track has four
 * channels: left, right, reverb send and chorus send. A plugin track has no sends.
 */
const BYTES_PER_FRAME: Record<Renderer, number> = { soundfont: 16, plugin: 8 };

export type PlannedRender = { track: Track; request: RenderRequest };
export type RenderPlan = {
  renders: PlannedRender[];
  /** Plugin tracks that do not fit into the memory limit. Nothing else can play them. */
  oversized: PlannedRender[];
};

/**
 * Plans the renders of a song of `lengthFrames`. Plugin tracks are planned first, because the
 * page's engine cannot play them. SoundFont tracks are planned only if `rendersSoundFonts` is set.
 */
export function planRenders(project: Project, lengthFrames: number, rendersSoundFonts: boolean): RenderPlan {
  const plan: RenderPlan = { renders: [], oversized: [] };
  if (lengthFrames <= 0) return plan;
  const requested = project.tracks.flatMap((track): PlannedRender[] => {
    const request = renderRequestOf(project, track);
    return request ? [{ track, request }] : [];
  });
  let freeBytes = AUDIO_MAX_BYTES;
  for (const renderer of rendersSoundFonts ? (['plugin', 'soundfont'] as const) : (['plugin'] as const)) {
    const trackBytes = lengthFrames * BYTES_PER_FRAME[renderer];
    for (const planned of requested) {
      if (planned.request.renderer !== renderer) continue;
      if (trackBytes <= freeBytes) {
        freeBytes -= trackBytes;
        plan.renders.push(planned);
      } else if (renderer === 'plugin') plan.oversized.push(planned);
    }
  }
  return plan;
}
