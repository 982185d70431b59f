/**
 * Lanes of controllers in a MIDI item: the changes of one controller, of the pitch bend or of the
 * channel pressure, in ascending order of ticks. Edits leave the other changes of the item as they
 * are.
 */
import { controllerName, SUSTAIN_CONTROLLER } from './controller-names';
import type { Control } from './model';
import { TICK_MAX } from './model';

/** A lane: a MIDI controller by its number, 0..127, the pitch bend or the channel pressure. */
export type ControlLane = { kind: 'cc'; controller: number } | { kind: 'bend' } | { kind: 'pressure' };

/** A value from `tick` on, in ticks from the start of the item, until the next point. */
export type ControlPoint = { tick: number; value: number };

/** Lowest and highest value of a lane, and the value that applies before the first point. */
export type ControlRange = { min: number; max: number; initial: number };

const BEND_RANGE: ControlRange = { min: -8192, max: 8191, initial: 0 };
/** Values that SoundFont 2.04 and General MIDI 2 give controllers at the start. */
const INITIAL_CC: Readonly<Record<number, number>> = { 7: 100, 8: 64, 10: 64, 11: 127, 71: 64, 72: 64, 73: 64, 74: 64, 75: 64, 76: 64, 77: 64, 78: 64, 91: 40 };

export function rangeOfLane(lane: ControlLane): ControlRange {
  if (lane.kind === 'bend') return BEND_RANGE;
  return { min: 0, max: 127, initial: lane.kind === 'cc' ? (INITIAL_CC[lane.controller] ?? 0) : 0 };
}

/** Whether a lane has only the values on and off, as a pedal. */
export function isSwitchLane(lane: ControlLane): boolean {
  return lane.kind === 'cc' && lane.controller >= SUSTAIN_CONTROLLER && lane.controller <= 69 && lane.controller !== 65;
}

/** Returns the name of a lane: `CC 1 Modulation`, `Pitch bend` or `Pressure`. */
export function nameOfLane(lane: ControlLane): string {
  if (lane.kind === 'bend') return 'Pitch bend';
  if (lane.kind === 'pressure') return 'Channel pressure';
  return `CC ${lane.controller} ${controllerName(lane.controller)}`.trimEnd();
}

/** Describes a value of a lane: `on` and `off` for pedals, per cent for the bend, or the number. */
export function formatControlValue(lane: ControlLane, value: number): string {
  if (isSwitchLane(lane)) return value >= 64 ? 'on' : 'off';
  if (lane.kind !== 'bend') return String(value);
  const percent = Math.round((value / 8192) * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '\u2212' : ''}${Math.abs(percent)} %`;
}

function isInLane(control: Control, lane: ControlLane): control is Control & ControlPoint {
  return control.type === lane.kind && (lane.kind !== 'cc' || (control.type === 'cc' && control.controller === lane.controller));
}

/** Returns the points of a lane, sorted by tick. */
export function pointsOfLane(controls: readonly Control[], lane: ControlLane): ControlPoint[] {
  const points = controls.flatMap((control): ControlPoint[] => (isInLane(control, lane) ? [{ tick: control.tick, value: control.value }] : []));
  return points.sort((first, second) => first.tick - second.tick);
}

/** Returns the value of a lane at a tick. */
export function valueOfLaneAt(points: readonly ControlPoint[], lane: ControlLane, tick: number): number {
  return points.findLast((point) => point.tick <= tick)?.value ?? rangeOfLane(lane).initial;
}

/** Limits a value to the range of the lane, and rounds it. A pedal is off (0) or on (127). */
export function clampToLane(lane: ControlLane, value: number): number {
  const { min, max } = rangeOfLane(lane);
  if (isSwitchLane(lane)) return value >= 64 ? max : min;
  return Math.round(Math.min(max, Math.max(min, value)));
}

function controlAt(lane: ControlLane, { tick, value }: ControlPoint): Control {
  const point = { tick: Math.min(TICK_MAX, Math.max(0, Math.round(tick))), value: clampToLane(lane, value) };
  return lane.kind === 'cc' ? { type: 'cc', controller: lane.controller, ...point } : { type: lane.kind, ...point };
}

/**
 * Replaces the points of a lane from `fromTick` to `toTick`, both inclusive, with other points.
 * Controls stay sorted by tick; at the same tick, new points come last.
 */
export function replacePoints(
  controls: readonly Control[],
  lane: ControlLane,
  [fromTick, toTick]: readonly [fromTick: number, toTick: number],
  points: readonly ControlPoint[],
): Control[] {
  const keptControls = controls.filter((control) => !isInLane(control, lane) || control.tick < fromTick || control.tick > toTick);
  if (points.length === 0) return keptControls;
  return [...keptControls, ...points.map((point) => controlAt(lane, point))].sort((first, second) => first.tick - second.tick);
}

/**
 * Draws a straight line between two points as a point at each step of `stepTicks`, and replaces the
 * points that the lane had there. Points that would repeat the value before them are left out.
 */
export function drawLine(controls: readonly Control[], lane: ControlLane, start: ControlPoint, end: ControlPoint, stepTicks: number): Control[] {
  const [first, last] = start.tick <= end.tick ? [start, end] : [end, start];
  const spanTicks = last.tick - first.tick;
  const points: ControlPoint[] = [];
  const step = Math.max(1, stepTicks);
  const valueBefore = pointsOfLane(controls, lane).findLast((point) => point.tick < first.tick)?.value;
  for (let tick = first.tick; ; tick = Math.min(last.tick, tick + step)) {
    const progress = spanTicks === 0 ? 1 : (tick - first.tick) / spanTicks;
    const value = clampToLane(lane, first.value + (last.value - first.value) * progress);
    if ((points.at(-1)?.value ?? valueBefore) !== value) points.push({ tick, value });
    if (tick >= last.tick) break;
  }
  return replacePoints(controls, lane, [first.tick, last.tick], points);
}

/**
 * Moves a point of a lane to a tick and a value. The tick stays between those of the neighbouring
 * points.
 */
export function moveControlPoint(controls: readonly Control[], lane: ControlLane, index: number, tick: number, value: number): Control[] {
  const points = pointsOfLane(controls, lane);
  const point = points[index];
  if (!point) return [...controls];
  const lowestTick = (points[index - 1]?.tick ?? -1) + 1;
  const highestTick = Math.max(lowestTick, (points[index + 1]?.tick ?? TICK_MAX + 1) - 1);
  const movedTick = Math.min(highestTick, Math.max(lowestTick, Math.round(tick)));
  return replacePoints(controls, lane, [point.tick, point.tick], [{ tick: movedTick, value }]);
}

/** Returns the lanes that have points, controllers in ascending order of their numbers. */
export function lanesWithPoints(controls: readonly Control[]): ControlLane[] {
  const controllers = new Set(controls.flatMap((control) => (control.type === 'cc' ? [control.controller] : [])));
  const lanes: ControlLane[] = [...controllers].sort((a, b) => a - b).map((controller) => ({ kind: 'cc', controller }));
  if (controls.some((control) => control.type === 'bend')) lanes.push({ kind: 'bend' });
  if (controls.some((control) => control.type === 'pressure')) lanes.push({ kind: 'pressure' });
  return lanes;
}
