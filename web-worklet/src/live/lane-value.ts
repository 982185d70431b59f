/** Computes the values of automated parameters of a live chain. */
import type { LivePoint } from './messages';

/** Returns the value of a lane at a frame of the song; null for a lane without points. */
export function laneValueAt(points: readonly LivePoint[], frame: number): number | null {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.frame ?? 0) > frame) high = middle;
    else low = middle + 1;
  }
  const [before, after] = [points[low - 1], points[low]];
  if (!before) return after?.value ?? null;
  if (!after) return before.value;
  const time = (frame - before.frame) / (after.frame - before.frame);
  return before.value + (after.value - before.value) * progress(before.curve, time);
}

/** Returns the fraction of a change after a fraction of its time, as the engine computes it. */
function progress(curve: LivePoint['curve'], time: number): number {
  if (curve === 'step') return 0;
  if (curve === 'linear' || time <= 0) return time;
  if (curve >= 1) return 0;
  if (curve <= -1) return 1;
  return time / (time + ((1 - time) * (1 + curve)) / (1 - curve));
}
