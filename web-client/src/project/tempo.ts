/**
 * Converts between ticks and seconds for drawing and for the time display. Playback uses the
 * engine's conversion in integers instead.
 */
import { TICKS_PER_QUARTER, type TempoPoint } from './model';

function secsPerTick(bpm: number): number {
  return 60 / (bpm * TICKS_PER_QUARTER);
}

/** Returns the seconds from the start of the song to `tick`. */
export function secsAtTick(tempoMap: readonly TempoPoint[], tick: number): number {
  let secs = 0;
  let previous: TempoPoint = { tick: 0, bpm: tempoMap[0]?.bpm ?? 120 };
  for (const point of tempoMap) {
    if (point.tick >= tick) break;
    secs += (point.tick - previous.tick) * secsPerTick(previous.bpm);
    previous = point;
  }
  return secs + (tick - previous.tick) * secsPerTick(previous.bpm);
}

/** Returns the tick, not rounded, that is `secs` after the start of the song. */
export function tickAtSecs(tempoMap: readonly TempoPoint[], secs: number): number {
  let remainingSecs = secs;
  let previous: TempoPoint = { tick: 0, bpm: tempoMap[0]?.bpm ?? 120 };
  for (const point of tempoMap) {
    const spanSecs = (point.tick - previous.tick) * secsPerTick(previous.bpm);
    if (spanSecs > remainingSecs) break;
    remainingSecs -= spanSecs;
    previous = point;
  }
  return previous.tick + remainingSecs / secsPerTick(previous.bpm);
}

/** Returns the index of the tempo point that is in force at `tick`. */
export function tempoIndexAt(tempoMap: readonly TempoPoint[], tick: number): number {
  let index = 0;
  for (let i = 1; i < tempoMap.length; i++) {
    if ((tempoMap[i]?.tick ?? Infinity) <= tick) index = i;
  }
  return index;
}

/** Returns the tempo at `tick`, in quarter notes a minute. */
export function bpmAt(tempoMap: readonly TempoPoint[], tick: number): number {
  return tempoMap[tempoIndexAt(tempoMap, tick)]?.bpm ?? 120;
}
