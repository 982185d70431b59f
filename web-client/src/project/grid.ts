/** Computes bars, beats and the snap grid from the time signatures of a song. */
import { TICKS_PER_QUARTER, type TimeSignature } from './model';

/** A position in a song. Bars and beats count from 1; `tick` counts from the start of the beat. */
export type BarPosition = { bar: number; beat: number; tick: number };

/** A part of the song with one time signature. It starts at `tick`, in bar `bar` counted from 0. */
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

/** Returns the index of the time signature that is in force at `tick`. */
export function signatureIndexAt(signatures: readonly TimeSignature[], tick: number): number {
  return Math.max(0, signatures.findLastIndex((signature) => signature.tick <= tick));
}

/** Returns the time signature that is in force at `tick`. */
export function signatureAt(signatures: readonly TimeSignature[], tick: number): TimeSignature {
  return signatures[signatureIndexAt(signatures, tick)] ?? { tick: 0, numerator: 4, denominator: 4 };
}

/** Converts a tick to bar, beat and ticks. */
export function barPositionAt(signatures: readonly TimeSignature[], tick: number): BarPosition {
  const segment = segmentAtTick(segmentsOf(signatures), tick);
  const ticksIntoSegment = Math.max(0, Math.floor(tick) - segment.tick);
  const ticksIntoBar = ticksIntoSegment % segment.ticksPerBar;
  return {
    bar: segment.bar + Math.floor(ticksIntoSegment / segment.ticksPerBar) + 1,
    beat: Math.floor(ticksIntoBar / segment.ticksPerBeat) + 1,
    tick: ticksIntoBar % segment.ticksPerBeat,
  };
}

/** Converts bar, beat and ticks to a tick; 0 for positions before the start of the song. */
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

/** Returns the length in ticks of the bar at `tick`. */
export function ticksPerBarAt(signatures: readonly TimeSignature[], tick: number): number {
  return segmentAtTick(segmentsOf(signatures), tick).ticksPerBar;
}

/** Returns the start of the first bar that starts at or after `tick`. */
export function nextBarTick(signatures: readonly TimeSignature[], tick: number): number {
  const segment = segmentAtTick(segmentsOf(signatures), tick);
  return segment.tick + Math.ceil((tick - segment.tick) / segment.ticksPerBar) * segment.ticksPerBar;
}

export type GridLine = { tick: number; level: 'bar' | 'beat' | 'step'; bar: number };

/**
 * Returns the grid lines from `fromTick` up to, but not including, `toTick`, in ascending order. A
 * `stepTicks` of 0 omits steps. If lines would be closer than `minTicks`, steps are omitted first,
 * then beats, then all bars but every 2nd, 4th, 8th and so on.
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
    const endTick = Math.min(toTick, segments[index + 1]?.tick ?? toTick);
    let barStride = 1;
    while (barStride * segment.ticksPerBar < minTicks) barStride *= 2;
    const showsBeats = segment.ticksPerBeat >= minTicks;
    const showsSteps = stepTicks > 0 && stepTicks >= minTicks && stepTicks < segment.ticksPerBeat;
    const spacingTicks = showsSteps ? stepTicks : showsBeats ? segment.ticksPerBeat : segment.ticksPerBar * barStride;
    const firstBar = Math.max(0, Math.floor((fromTick - segment.tick) / segment.ticksPerBar));
    for (let bar = firstBar - (firstBar % barStride); ; bar += barStride) {
      const barTick = segment.tick + bar * segment.ticksPerBar;
      if (barTick >= endTick) break;
      const barEnd = Math.min(endTick, barTick + segment.ticksPerBar);
      for (let tick = barTick; tick < barEnd; tick += spacingTicks) {
        if (tick < fromTick) continue;
        const ticksIntoBar = tick - barTick;
        const level = ticksIntoBar === 0 ? 'bar' : ticksIntoBar % segment.ticksPerBeat === 0 ? 'beat' : 'step';
        lines.push({ tick, level, bar: segment.bar + bar + 1 });
      }
    }
  });
  return lines;
}

/** The grid steps that the user can choose: length in ticks and name. `T` marks triplets. */
export const SNAP_STEPS = [
  { value: 0, name: 'Off' },
  { value: TICKS_PER_QUARTER * 4, name: '1/1' },
  { value: TICKS_PER_QUARTER * 2, name: '1/2' },
  { value: TICKS_PER_QUARTER, name: '1/4' },
  { value: TICKS_PER_QUARTER / 2, name: '1/8' },
  { value: TICKS_PER_QUARTER / 4, name: '1/16' },
  { value: TICKS_PER_QUARTER / 8, name: '1/32' },
  { value: TICKS_PER_QUARTER / 3, name: '1/8 T' },
  { value: TICKS_PER_QUARTER / 6, name: '1/16 T' },
] as const;

/**
 * Returns the grid step nearest to `tick`, or with `down` the last step at or before `tick`. Steps
 * count from the start of the bar. If `stepTicks` is 0, `tick` is only rounded.
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
