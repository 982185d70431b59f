/** Chooses the SoundFont tracks that the service renders and stores, within limits. */
import { KEPT_BLOCKS_MAX, STREAM_CHANNELS } from '@songfoundry/web-worklet';
import type { SoundFontRenderRequest } from '../api/types';
import type { Project, Track } from '../project/model';
import { renderRequestOf } from './render-requests';

/**
 * Limit on the rendered tracks of a song on the service's disk, in bytes. Ten minutes of a track
 * with its sends need 460 MB at 48 kHz, so the service renders only some of the tracks of a long
 * song.
 */
export const STORED_MAX_BYTES = 1024 * 1024 * 1024;

/** Maximum number of tracks that the service renders. */
const TRACKS_MAX = 256;

/** Limit on the blocks of rendered tracks that a page keeps around the playhead, in bytes. */
export const STREAMED_MAX_BYTES = 32 * 1024 * 1024;

/** Bytes of a frame of a rendered track, which has samples of 32-bit floats. */
const BYTES_PER_FRAME = 4 * STREAM_CHANNELS;

/** Shortest and longest block, in frames. */
const BLOCK_MIN_FRAMES = 1024;
const BLOCK_MAX_FRAMES = 32_768;

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
  return requested.slice(0, Math.min(TRACKS_MAX, Math.floor(STORED_MAX_BYTES / (lengthFrames * BYTES_PER_FRAME))));
}

/**
 * Returns the length in frames of the blocks in which `tracks` tracks are streamed: a power of two.
 * The more tracks, the shorter it is, so that all of them fit into {@link STREAMED_MAX_BYTES}.
 */
export function blockFramesFor(tracks: number): number {
  const available = STREAMED_MAX_BYTES / (BYTES_PER_FRAME * KEPT_BLOCKS_MAX * Math.max(1, tracks));
  let frames = BLOCK_MAX_FRAMES;
  while (frames > Math.max(available, BLOCK_MIN_FRAMES)) frames /= 2;
  return frames;
}
