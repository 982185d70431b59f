/** The computer keyboard: shortcuts, and a piano on the letter keys. */
import { octaveShiftOf, semitoneOf } from '../engine/computer-keys';
import type { Workspace } from '../state/contexts';
import { bare, SHORTCUTS } from './shortcuts';

const ofRoles = (...roles: string[]): string => roles.map((role) => `[role="${role}"]`).join(', ');
/** Elements that the Delete key resets. */
const RESET_BY_DELETE = ofRoles('slider', 'spinbutton');
/** Elements that the arrow keys, Home and End move. */
const MOVED_BY_ARROWS = ofRoles('slider', 'spinbutton', 'tablist', 'listbox', 'separator', 'scrollbar');

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null;
}

/**
 * Whether the focused element handles the key. Space presses a button and Delete resets a control
 * only after the Tab key moved the focus there (`tabbed`); otherwise they play and delete.
 */
function isHandledByElement(event: KeyboardEvent, tabbed: boolean): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"]')) return true;
  if (event.key === ' ') return tabbed && target.closest('button, [role="button"], a') !== null;
  if (event.key === 'Delete' || event.key === 'Backspace') return tabbed && target.closest(RESET_BY_DELETE) !== null;
  const arrows = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
  return arrows && target.closest(MOVED_BY_ARROWS) !== null;
}

/** Listens to the keys of the page; returns a function that stops it. */
export function listenToKeys(workspace: Workspace): () => void {
  const { keys } = workspace.playback;
  /** MIDI keys that sound, by the code of the computer key. */
  const sounding = new Map<string, number>();
  let tabbed = false;

  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Tab') tabbed = true;
    const isOpen = workspace.account.session.state.kind === 'open';
    if (!isOpen || isTyping(event.target) || isHandledByElement(event, tabbed)) return;
    const shortcut = SHORTCUTS.find((candidate) => candidate.matches(event));
    if (shortcut) {
      event.preventDefault();
      event.stopPropagation();
      shortcut.action(workspace, event);
      return;
    }
    if (!bare(event) || event.shiftKey) return;
    const octaves = octaveShiftOf(event.code);
    const semitone = semitoneOf(event.code);
    if (octaves !== 0) keys.shiftOctave(octaves);
    if (semitone === null || event.repeat || sounding.has(event.code)) return;
    event.preventDefault();
    const key = keys.lowestKey + semitone;
    sounding.set(event.code, key);
    keys.press(key);
  };

  const release = (event: KeyboardEvent): void => {
    const key = sounding.get(event.code);
    if (key === undefined) return;
    sounding.delete(event.code);
    keys.release(key);
  };

  const releaseAll = (): void => {
    for (const key of sounding.values()) keys.release(key);
    sounding.clear();
  };

  const usePointer = (): void => {
    tabbed = false;
  };

  // A button that was clicked with the mouse loses the focus, so that Space plays.
  const blurClickedButton = (event: MouseEvent): void => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (event.detail > 0 && button === document.activeElement && !button?.closest('[role="dialog"]')) button?.blur();
  };

  const listeners = new AbortController();
  const { signal } = listeners;
  window.addEventListener('pointerdown', usePointer, { signal, capture: true });
  window.addEventListener('click', blurClickedButton, { signal });
  // The capture phase comes before any element handles the key.
  window.addEventListener('keydown', press, { signal, capture: true });
  window.addEventListener('keyup', release, { signal });
  window.addEventListener('blur', releaseAll, { signal });
  return () => listeners.abort();
}
