/**
 * Tells which windows of this browser are open. Each window holds a lock with its id, which the
 * browser releases when the window is closed or crashes.
 */

/** Maximum time for the browser to release the lock of a window that was just closed. */
const RELEASE_MS = 300;

const lockName = (windowId: string): string => `songfoundry window ${windowId}`;

/** Browsers offer locks only on secure pages. */
const lockManager = (): LockManager | null => (typeof navigator === 'undefined' ? null : (navigator.locks ?? null));

/** Marks this window as open until the page ends. */
export function markOpen(windowId: string): void {
  const held = lockManager()?.request(lockName(windowId), () => new Promise<never>(() => undefined));
  held?.catch(() => undefined);
}

/** Whether a window is open. Without locks, every window counts as closed. */
export async function isOpen(windowId: string): Promise<boolean> {
  const locks = lockManager();
  if (!locks) return false;
  const { held = [] } = await locks.query();
  if (!held.some(({ name }) => name === lockName(windowId))) return false;
  try {
    await locks.request(lockName(windowId), { signal: AbortSignal.timeout(RELEASE_MS) }, () => undefined);
    return false;
  } catch {
    return true;
  }
}
