/** Bars, beats and the snap grid, from the time signatures of a song. */
import { TICKS_PER_QUARTER, type TimeSignature } from './model';

/** A position in a song; bars and beats count from 1, and `tick` counts from the beat. */
export type BarPosition = { bar: number; beat: number; tick: number };

/** A part of the song with one time signature; `bar` counts from 0. */
type Segment = { tick: number; bar: number; ticksPerBar: number; ticksPerBeat: number };

function ticksPerBeatOf(signature: TimeSignature): number {
  return (TICKS_PER_QUARTER * 4) / signature.denominator;
}

function segmentsOf(signatures: readonly TimeSignature[]): Segment[] {
  const segments: Segment[] = [];
  for (const signature of signatures) {
    const ticksPerBeat = ticksPerBeatOf(signature);
    const previous = segments.at(-1);
    segments.push({
      tick: previous ? signature.tick : 0,
      bar: previous ? previous.bar + Math.ceil((signature.tick - previous.tick) / previous.ticksPerBar) : 0,
      ticksPerBeat,
      ticksPerBar: ticksPerBeat * signature.numerator,
    });
  }
  if (segments.length === 0) {
    segments.push({ tick: 0, bar: 0, ticksPerBeat: TICKS_PER_QUARTER, ticksPerBar: TICKS_PER_QUARTER * 4 });
  }
  return segments;
}

function segmentAtTick(segments: readonly Segment[], tick: number): Segment {
  return segments.findLast((segment) => segment.tick <= tick) ?? (segments[0] as Segment);
}

/** Index of the time signature in force at `tick`. */
export function signatureIndexAt(signatures: readonly TimeSignature[], tick: number): number {
  return Math.max(0, signatures.findLastIndex((signature) => signature.tick <= tick));
}

/** The time signature in force at `tick`. */
export function signatureAt(signatures: readonly TimeSignature[], tick: number): TimeSignature {
  return signatures[signatureIndexAt(signatures, tick)] ?? { tick: 0, numerator: 4, denominator: 4 };
}

/** Bar, beat and remaining ticks at `tick`. */
export function barPositionAt(signatures: readonly TimeSignature[], tick: number): BarPosition {
  const segment = segmentAtTick(segmentsOf(signatures), tick);
  const into = Math.max(0, Math.floor(tick) - segment.tick);
  const inBar = into % segment.ticksPerBar;
  return {
    bar: segment.bar + Math.floor(into / segment.ticksPerBar) + 1,
    beat: Math.floor(inBar / segment.ticksPerBeat) + 1,
    tick: inBar % segment.ticksPerBeat,
  };
}

/** The tick of a position; 0 for positions before the song. */
export function tickOfBarPosition(signatures: readonly TimeSignature[], position: BarPosition): number {
  const segments = segmentsOf(signatures);
  const bar = position.bar - 1;
  const segment = segments.findLast((candidate) => candidate.bar <= bar) ?? (segments[0] as Segment);
  const tick =
    segment.tick +
    (bar - segment.bar) * segment.ticksPerBar +
    (position.beat - 1) * segment.ticksPerBeat +
    position.tick;
  return Math.max(0, tick);
}

/** Ticks of one bar at `tick`. */
export function ticksPerBarAt(signatures: readonly TimeSignature[], tick: number): number {
  return segmentAtTick(segmentsOf(signatures), tick).ticksPerBar;
}

/** Start of the first bar at or after `tick`. */
export function nextBarTick(signatures: readonly TimeSignature[], tick: number): number {
  const segment = segmentAtTick(segmentsOf(signatures), tick);
  return segment.tick + Math.ceil((tick - segment.tick) / segment.ticksPerBar) * segment.ticksPerBar;
}

export type GridLine = { tick: number; level: 'bar' | 'beat' | 'step'; bar: number };

/**
 * The grid lines in [fromTick, toTick), ascending. `stepTicks` 0 omits steps. Lines closer than
 * `minTicks` are omitted: first steps, then beats, then all but every 2nd, 4th or 8th bar and so
 * on.
 */
export function gridLines(
  signatures: readonly TimeSignature[],
  fromTick: number,
  toTick: number,
  stepTicks: number,
  minTicks: number,
): GridLine[] {
  const lines: GridLine[] = [];
  const segments = segmentsOf(signatures);
  segments.forEach((segment, index) => {
    const end = Math.min(toTick, segments[index + 1]?.tick ?? toTick);
    let barStride = 1;
    while (barStride * segment.ticksPerBar < minTicks) barStride *= 2;
    const beats = segment.ticksPerBeat >= minTicks;
    const steps = stepTicks > 0 && stepTicks >= minTicks && stepTicks < segment.ticksPerBeat;
    const unit = steps ? stepTicks : beats ? segment.ticksPerBeat : segment.ticksPerBar * barStride;
    const first = Math.max(0, Math.floor((fromTick - segment.tick) / segment.ticksPerBar));
    for (let bar = first - (first % barStride); ; bar += barStride) {
      const barTick = segment.tick + bar * segment.ticksPerBar;
      if (barTick >= end) break;
      const barEnd = Math.min(end, barTick + segment.ticksPerBar);
      for (let tick = barTick; tick < barEnd; tick += unit) {
        if (tick < fromTick) continue;
        const inBar = tick - barTick;
        const level = inBar === 0 ? 'bar' : inBar % segment.ticksPerBeat === 0 ? 'beat' : 'step';
        lines.push({ tick, level, bar: segment.bar + bar + 1 });
      }
    }
  });
  return lines;
}

/** Grid steps by note value, in ticks. */
export const SNAP_STEPS = [
  { name: 'Off', ticks: 0 },
  { name: '1/1', ticks: TICKS_PER_QUARTER * 4 },
  { name: '1/2', ticks: TICKS_PER_QUARTER * 2 },
  { name: '1/4', ticks: TICKS_PER_QUARTER },
  { name: '1/8', ticks: TICKS_PER_QUARTER / 2 },
  { name: '1/16', ticks: TICKS_PER_QUARTER / 4 },
  { name: '1/32', ticks: TICKS_PER_QUARTER / 8 },
  { name: '1/8 T', ticks: TICKS_PER_QUARTER / 3 },
  { name: '1/16 T', ticks: TICKS_PER_QUARTER / 6 },
] as const;

/**
 * `tick` moved to the nearest (or, with `down`, the previous) step counted from its bar's start.
 */
export function snapTick(
  signatures: readonly TimeSignature[],
  tick: number,
  stepTicks: number,
  direction: 'nearest' | 'down' = 'nearest',
): number {
  if (stepTicks <= 0) return Math.max(0, Math.round(tick));
  const segment = segmentAtTick(segmentsOf(signatures), tick);
  const barStart = segment.tick + Math.floor((tick - segment.tick) / segment.ticksPerBar) * segment.ticksPerBar;
  const steps = (tick - barStart) / stepTicks;
  return Math.max(0, barStart + (direction === 'down' ? Math.floor(steps) : Math.round(steps)) * stepTicks);
}
