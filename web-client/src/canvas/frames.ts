/**
 * One animation loop for all animated parts of the page. It runs while something moves: a part that
 * starts to move calls {@link wakeFrames}, and the loop stops when no part has done so for a while.
 */

/** Time for which the loop runs after the last call of {@link wakeFrames}, in milliseconds. */
const AWAKE_MS = 250;

const listeners = new Set<(nowMs: number) => void>();
let request = 0;
let awakeUntilMs = 0;

function tick(nowMs: number): void {
  request = listeners.size > 0 && performance.now() < awakeUntilMs ? requestAnimationFrame(tick) : 0;
  for (const listener of listeners) listener(nowMs);
}

/** Runs the animation loop for some frames: the playhead, a meter or a view has moved. */
export function wakeFrames(): void {
  awakeUntilMs = performance.now() + AWAKE_MS;
  if (request === 0 && listeners.size > 0) request = requestAnimationFrame(tick);
}

/**
 * Calls `listener` before every animation frame while something moves, until the returned function
 * is called. It is also called once soon after this call.
 */
export function onFrame(listener: (nowMs: number) => void): () => void {
  listeners.add(listener);
  wakeFrames();
  return () => listeners.delete(listener);
}
