/** The region of the song that playback repeats. It is stored in the project's `client`. */
import type { Project } from './model';

/** A region from `startTick` up to, but not including, `endTick`. */
export type LoopRegion = { startTick: number; endTick: number };

/** The loop of a song. If it is not `active`, playback ignores it. */
export type Loop = LoopRegion & { active: boolean };

/** Shortest loop, in ticks: a thirty-second note. */
export const MIN_LOOP_TICKS = 120;

/** Returns the loop of a song; null for a song without a valid one. */
export function loopOf(project: Project): Loop | null {
  const { loop } = (project.client ?? {}) as { loop?: unknown };
  const { start_tick: startTick, end_tick: endTick, active } = (loop ?? {}) as Record<string, unknown>;
  if (!isTick(startTick) || !isTick(endTick) || endTick - startTick < MIN_LOOP_TICKS) return null;
  return { startTick, endTick, active: active === true };
}

/** Returns the loop of a song if it is switched on. */
export function activeLoopOf(project: Project): Loop | null {
  const loop = loopOf(project);
  return loop?.active ? loop : null;
}

/**
 * Sets the loop of a song. Swaps its ends if they are reversed, and lengthens a loop that is too
 * short.
 */
export function setLoop(project: Project, { startTick, endTick, active }: Loop): Project {
  const start = Math.max(0, Math.round(Math.min(startTick, endTick)));
  const end = Math.max(start + MIN_LOOP_TICKS, Math.round(Math.max(startTick, endTick)));
  return { ...project, client: { ...(project.client as object | undefined), loop: { start_tick: start, end_tick: end, active } } };
}

function isTick(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
