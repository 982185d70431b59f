/**
 * Tells whether keys or the pointer open a context menu; browsers report this in different ways.
 */
let isByKeys = false;

const isMenuKey = (event: KeyboardEvent): boolean => event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);

window.addEventListener('keydown', (event) => (isByKeys = isMenuKey(event)), { capture: true });
window.addEventListener('pointerdown', () => (isByKeys = false), { capture: true });

/** Whether the pointer, and not a key, has caused the current event `contextmenu`. */
export function isOpenedByPointer(): boolean {
  return !isByKeys;
}
