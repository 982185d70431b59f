/** One animation loop for all animated parts of the page. It stops while there are no listeners. */
const listeners = new Set<(nowMs: number) => void>();
let request = 0;

function tick(nowMs: number): void {
  request = listeners.size > 0 ? requestAnimationFrame(tick) : 0;
  for (const listener of listeners) listener(nowMs);
}

/** Calls `listener` before every animation frame until the returned function is called. */
export function onFrame(listener: (nowMs: number) => void): () => void {
  listeners.add(listener);
  if (request === 0) request = requestAnimationFrame(tick);
  return () => listeners.delete(listener);
}
