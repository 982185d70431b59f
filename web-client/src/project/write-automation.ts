/** Writes the moves of a control into an automation lane while the song plays. */
import { lanesOf, updateLanes, valueAtTick } from './automation';
import type { AutomationPoint, Project, TempoPoint } from './model';

/** A value that the user set at a position of the song. */
export type WrittenValue = { tick: number; value: number };

/** How the values of a lane change between points. */
type Shape = { isStepped: boolean };

/**
 * Returns a lane in which the written values, which are in order, replace what was between the first
 * and the last one. The curve before and after them stays as it was. A lane that had no points
 * (`before` is empty) starts with `initial`, and keeps the last written value.
 */
export function withWrittenValues(
  before: readonly AutomationPoint[],
  tempoMap: readonly TempoPoint[],
  written: readonly WrittenValue[],
  initial: number,
  { isStepped }: Shape,
): AutomationPoint[] {
  const first = written[0];
  const last = written.at(-1);
  if (!first || !last) return [...before];
  const curve = isStepped ? 'step' : 'linear';
  const valueBefore = (tick: number): number => valueAtTick(before, tempoMap, tick) ?? initial;
  const start: AutomationPoint[] = before.filter(({ tick }) => tick < first.tick - 1);
  if (before.length === 0 && first.tick > 1) start.push({ tick: 0, value: initial, curve });
  if (first.tick > 0) start.push({ tick: first.tick - 1, value: valueBefore(first.tick - 1), curve });
  const middle = withoutNeedless(written, isStepped).map((point): AutomationPoint => ({ ...point, curve }));
  const end = before.filter(({ tick }) => tick > last.tick);
  if (before.length > 0 && end[0]?.tick !== last.tick + 1) {
    const curveThere = before.findLast(({ tick }) => tick <= last.tick)?.curve ?? curve;
    end.unshift({ tick: last.tick + 1, value: valueBefore(last.tick + 1), curve: curveThere });
  }
  return [...start, ...middle, ...end];
}

/** Largest difference from a straight line at which a written value is left out. */
const STRAIGHT_MAX = 0.002;

/** Returns the values without those that are on the line between their neighbours. */
function withoutNeedless(written: readonly WrittenValue[], isStepped: boolean): WrittenValue[] {
  const kept: WrittenValue[] = [];
  for (const [index, point] of written.entries()) {
    const [previous, next] = [kept.at(-1), written[index + 1]];
    if (previous && next && isNeedless(previous, point, next, isStepped)) continue;
    kept.push(point);
  }
  return kept;
}

function isNeedless(previous: WrittenValue, { tick, value }: WrittenValue, next: WrittenValue, isStepped: boolean): boolean {
  if (isStepped) return value === previous.value;
  const straight = previous.value + ((next.value - previous.value) * (tick - previous.tick)) / (next.tick - previous.tick);
  return Math.abs(value - straight) < STRAIGHT_MAX;
}

/** Replaces the points of a lane, which is added if it is missing. */
export function setLane(project: Project, channelId: string, target: string, points: AutomationPoint[]): Project {
  const exists = lanesOf(project, channelId).some((lane) => lane.target === target);
  return updateLanes(project, channelId, (lanes) =>
    exists ? lanes.map((lane) => (lane.target === target ? { ...lane, points } : lane)) : [...lanes, { target, points }],
  );
}
