/**
 * Edits automation lanes and computes the values of their curves. `channelId` is the id of a track,
 * or `MASTER_ID`.
 */
import { findTrack } from './find-track';
import { MASTER_ID, TICK_MAX, type AutomationLane, type AutomationPoint, type Project, type TempoPoint } from './model';
import { secsAtTick } from './tempo';
import { updateTrack } from './update-track';

export type Curve = NonNullable<AutomationPoint['curve']>;

/** Returns the automation lanes of a track or of the master. */
export function lanesOf(project: Project, channelId: string): readonly AutomationLane[] {
  const holder = channelId === MASTER_ID ? project.master : findTrack(project, channelId);
  return holder?.automation ?? [];
}

/** Replaces the lanes of a track or of the master with the result of `change`. */
export function updateLanes(
  project: Project,
  channelId: string,
  change: (lanes: readonly AutomationLane[]) => AutomationLane[],
): Project {
  const automation = change(lanesOf(project, channelId));
  if (channelId === MASTER_ID) return { ...project, master: { ...project.master, automation } };
  return updateTrack(project, channelId, (track) => ({ ...track, automation }));
}

/** Adds a lane with one point at the start of the song; a target that has a lane gets no other. */
export function addLane(project: Project, channelId: string, target: string, value: number): Project {
  if (lanesOf(project, channelId).some((lane) => lane.target === target)) return project;
  return updateLanes(project, channelId, (lanes) => [...lanes, { target, points: [{ tick: 0, value, curve: 'linear' }] }]);
}

export function removeLane(project: Project, channelId: string, target: string): Project {
  return updateLanes(project, channelId, (lanes) => lanes.filter((lane) => lane.target !== target));
}

export function setPoints(project: Project, channelId: string, target: string, points: AutomationPoint[]): Project {
  return updateLanes(project, channelId, (lanes) => lanes.map((lane) => (lane.target === target ? { ...lane, points } : lane)));
}

/**
 * Inserts a point so that the points stay sorted by tick, and returns its index. The new point
 * replaces a point at the same tick.
 */
export function insertPoint(
  points: readonly AutomationPoint[],
  point: AutomationPoint,
): { points: AutomationPoint[]; index: number } {
  const remaining = points.filter(({ tick }) => tick !== point.tick);
  const index = remaining.filter(({ tick }) => tick < point.tick).length;
  return { points: remaining.toSpliced(index, 0, point), index };
}

/** Moves a point to a tick and a value. The tick stays between those of the neighbouring points. */
export function movePoint(points: readonly AutomationPoint[], index: number, tick: number, value: number): AutomationPoint[] {
  const lowestTick = (points[index - 1]?.tick ?? -1) + 1;
  const highestTick = (points[index + 1]?.tick ?? TICK_MAX + 1) - 1;
  const movedTick = Math.min(highestTick, Math.max(lowestTick, Math.round(tick)));
  return points.map((point, i) => (i === index ? { ...point, tick: movedTick, value } : point));
}

export function setCurve(points: readonly AutomationPoint[], index: number, curve: Curve): AutomationPoint[] {
  return points.map((point, i) => (i === index ? { ...point, curve } : point));
}

/**
 * Returns the fraction, 0..1, of the change of value between two points, as in the engine. `time`
 * is the fraction, 0..1, of the time between the points. A segment of curvature `c` is C. Schlick's
 * bias curve, `x / (x + (1 - x) (1 + c) / (1 - c))`.
 */
export function progressAt(curve: Curve | undefined, time: number): number {
  if (curve === 'step') return time >= 1 ? 1 : 0;
  if (typeof curve !== 'number' || time <= 0 || time >= 1) return time;
  if (curve >= 1) return 0;
  if (curve <= -1) return 1;
  return time / (time + ((1 - time) * (1 + curve)) / (1 - curve));
}

/**
 * Returns the curvature, -0.98..0.98, of a segment that has `progress` at `time`; both are 0..1. It
 * is the inverse of {@link progressAt}.
 */
export function curvatureThrough(time: number, progress: number): number {
  const x = Math.min(0.99, Math.max(0.01, time));
  const y = Math.min(0.99, Math.max(0.01, progress));
  const ratio = (x * (1 - y)) / (y * (1 - x));
  const curvature = (ratio - 1) / (ratio + 1);
  return Math.round(Math.min(0.98, Math.max(-0.98, curvature)) * 1000) / 1000;
}

/**
 * Returns a function from a tick between `startTick` and `endTick` to the fraction, 0..1, of the
 * time between these ticks. As in the engine, time is measured in seconds, so tempo changes matter.
 */
export function timeBetween(tempoMap: readonly TempoPoint[], startTick: number, endTick: number): (tick: number) => number {
  const startSecs = secsAtTick(tempoMap, startTick);
  const durationSecs = secsAtTick(tempoMap, endTick) - startSecs;
  return (tick) => (secsAtTick(tempoMap, tick) - startSecs) / durationSecs;
}

/** Returns the value of a curve at a tick; null for a curve without points. */
export function valueAtTick(points: readonly AutomationPoint[], tempoMap: readonly TempoPoint[], tick: number): number | null {
  const nextIndex = points.findIndex((point) => point.tick > tick);
  const startPoint = points[nextIndex === -1 ? points.length - 1 : nextIndex - 1];
  const endPoint = nextIndex === -1 ? undefined : points[nextIndex];
  if (!startPoint) return endPoint?.value ?? null;
  if (!endPoint) return startPoint.value;
  return startPoint.value + (endPoint.value - startPoint.value) * progressAt(startPoint.curve, timeBetween(tempoMap, startPoint.tick, endPoint.tick)(tick));
}
