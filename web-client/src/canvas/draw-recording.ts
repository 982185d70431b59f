/** Draws the clip of a recording in progress, which grows. */
import { secsAtTick, tickAtSecs } from '../project/tempo';
import type { Project } from '../project/model';
import { LANE_PX } from './draw-clips';
import { palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** A recording in progress. */
export type LiveRecording = {
  trackId: string;
  rateHz: number;
  /** Frame of the song of the first sample. */
  songFrame: number;
  frames: number;
  /** Linear peaks of every `peakFrames` frames. */
  peaks: readonly number[];
  peakFrames: number;
};

const INSET_PX = 4;

export function drawRecording(
  context: CanvasRenderingContext2D,
  { view, project, live, scrollTopPx }: { view: TimeView; project: Project; live: LiveRecording; scrollTopPx: number },
  widthPx: number,
): void {
  const lane = project.tracks.findIndex(({ id }) => id === live.trackId);
  if (lane < 0) return;
  const map = project.tempo_map;
  const startSecs = live.songFrame / live.rateHz;
  const left = view.x(tickAtSecs(map, startSecs));
  const right = view.x(tickAtSecs(map, startSecs + live.frames / live.rateHz));
  const top = lane * LANE_PX - scrollTopPx + INSET_PX;
  const height = LANE_PX - 1 - 2 * INSET_PX;
  context.fillStyle = withAlpha(palette().error, 0.25);
  context.fillRect(left, top, Math.max(1, right - left), height);
  context.fillStyle = palette().error;
  for (let x = Math.max(0, Math.floor(left)); x < Math.min(widthPx, right); x++) {
    const peakAt = (px: number): number => ((secsAtTick(map, view.tick(px)) - startSecs) * live.rateHz) / live.peakFrames;
    const first = Math.max(0, Math.floor(peakAt(x)));
    const last = Math.max(first + 1, Math.ceil(peakAt(x + 1)));
    let peak = 0;
    for (let index = first; index < last; index++) peak = Math.max(peak, live.peaks[index] ?? 0);
    const half = Math.max(0.5, (Math.min(1, peak) * height) / 2);
    context.fillRect(x, top + height / 2 - half, 1, 2 * half);
  }
}
