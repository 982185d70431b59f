/** Chooses the SoundFont tracks that the service renders, within a memory limit. */
import type { SoundFontRenderRequest } from '../api/types';
import type { Project, Track } from '../project/model';
import { renderRequestOf } from './render-requests';

/**
 * Memory limit for rendered tracks, in bytes. Ten minutes of a track with its sends need 460 MB at
 * 48 kHz. The service renders only some of the tracks of a long song.
 */
export const AUDIO_MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Bytes of a frame of a rendered track: 32-bit float samples of left, right, reverb send and chorus
 * send.
 */
const BYTES_PER_FRAME = 16;

export type PlannedRender = { track: Track; request: SoundFontRenderRequest };

/**
 * Plans the renders of the SoundFont tracks of a song of `lengthFrames`, as many as the limit
 * allows.
 */
export function planRenders(project: Project, lengthFrames: number): PlannedRender[] {
  if (lengthFrames <= 0) return [];
  const requested = project.tracks.flatMap((track): PlannedRender[] => {
    const request = renderRequestOf(project, track);
    return request ? [{ track, request }] : [];
  });
  return requested.slice(0, Math.floor(AUDIO_MAX_BYTES / (lengthFrames * BYTES_PER_FRAME)));
}
