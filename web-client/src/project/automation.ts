/** Automation curves: their points, and the segments between them. */
import { MASTER_ID, TICK_MAX, type AutomationLane, type AutomationPoint, type Project, type TempoPoint } from './model';
import { secsAtTick } from './tempo';
import { updateTrack } from './update-track';

export type Curve = NonNullable<AutomationPoint['curve']>;

/** The lanes of a track or of the master. */
export function lanesOf(project: Project, owner: string): readonly AutomationLane[] {
  const holder = owner === MASTER_ID ? project.master : project.tracks.find((track) => track.id === owner);
  return holder?.automation ?? [];
}

/** Replaces the lanes by the result of `change`. */
export function updateLanes(
  project: Project,
  owner: string,
  change: (lanes: readonly AutomationLane[]) => AutomationLane[],
): Project {
  const automation = change(lanesOf(project, owner));
  if (owner === MASTER_ID) return { ...project, master: { ...project.master, automation } };
  return updateTrack(project, owner, (track) => ({ ...track, automation }));
}

/** Adds a lane that holds a value from the start of the song. */
export function addLane(project: Project, owner: string, target: string, value: number): Project {
  if (lanesOf(project, owner).some((lane) => lane.target === target)) return project;
  return updateLanes(project, owner, (lanes) => [...lanes, { target, points: [{ tick: 0, value, curve: 'linear' }] }]);
}

export function removeLane(project: Project, owner: string, target: string): Project {
  return updateLanes(project, owner, (lanes) => lanes.filter((lane) => lane.target !== target));
}

export function setPoints(project: Project, owner: string, target: string, points: AutomationPoint[]): Project {
  return updateLanes(project, owner, (lanes) => lanes.map((lane) => (lane.target === target ? { ...lane, points } : lane)));
}

/**
 * Inserts a point in the order of ticks, and returns its index. It replaces a point at the same
 * tick.
 */
export function insertPoint(
  points: readonly AutomationPoint[],
  point: AutomationPoint,
): { points: AutomationPoint[]; index: number } {
  const remaining = points.filter(({ tick }) => tick !== point.tick);
  const index = remaining.filter(({ tick }) => tick < point.tick).length;
  return { points: remaining.toSpliced(index, 0, point), index };
}

/** Moves a point; in time it stays between its neighbours. */
export function movePoint(points: readonly AutomationPoint[], index: number, tick: number, value: number): AutomationPoint[] {
  const low = (points[index - 1]?.tick ?? -1) + 1;
  const high = (points[index + 1]?.tick ?? TICK_MAX + 1) - 1;
  const moved = Math.min(high, Math.max(low, Math.round(tick)));
  return points.map((point, i) => (i === index ? { ...point, tick: moved, value } : point));
}

export function setCurve(points: readonly AutomationPoint[], index: number, curve: Curve): AutomationPoint[] {
  return points.map((point, i) => (i === index ? { ...point, curve } : point));
}

/**
 * Progress of the value towards the next point, 0..1, at a fraction of the time, as in the engine.
 * A segment of curvature `c` is C. Schlick's bias curve, `x / (x + (1 - x) (1 + c) / (1 - c))`.
 */
export function progressAt(curve: Curve | undefined, time: number): number {
  if (curve === 'step') return time >= 1 ? 1 : 0;
  if (typeof curve !== 'number' || time <= 0 || time >= 1) return time;
  if (curve >= 1) return 0;
  if (curve <= -1) return 1;
  return time / (time + ((1 - time) * (1 + curve)) / (1 - curve));
}

/**
 * The curvature of the segment through a point (time and progress, 0..1 each), within -0.98..0.98.
 */
export function curvatureThrough(time: number, progress: number): number {
  const x = Math.min(0.99, Math.max(0.01, time));
  const y = Math.min(0.99, Math.max(0.01, progress));
  const bend = (x * (1 - y)) / (y * (1 - x));
  const curvature = (bend - 1) / (bend + 1);
  return Math.round(Math.min(0.98, Math.max(-0.98, curvature)) * 1000) / 1000;
}

/**
 * A function from ticks to the fraction of time, 0..1, between two ticks. As in the engine, time is
 * counted in seconds, so tempo changes matter.
 */
export function timeBetween(tempoMap: readonly TempoPoint[], from: number, to: number): (tick: number) => number {
  const start = secsAtTick(tempoMap, from);
  const length = secsAtTick(tempoMap, to) - start;
  return (tick) => (secsAtTick(tempoMap, tick) - start) / length;
}

/** The value of a curve at a tick; null for a curve without points. */
export function valueAtTick(points: readonly AutomationPoint[], tempoMap: readonly TempoPoint[], tick: number): number | null {
  const after = points.findIndex((point) => point.tick > tick);
  const start = points[after === -1 ? points.length - 1 : after - 1];
  const end = after === -1 ? undefined : points[after];
  if (!start) return end?.value ?? null;
  if (!end) return start.value;
  return start.value + (end.value - start.value) * progressAt(start.curve, timeBetween(tempoMap, start.tick, end.tick)(tick));
}
