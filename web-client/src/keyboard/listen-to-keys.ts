/** Handles the computer keyboard: shortcuts, and letter keys that play notes. */
import { octaveShiftOf, semitoneOf } from '../engine/computer-keys';
import type { Workspace } from '../state/contexts';
import { noteShortcutFor } from './note-shortcuts';
import { hasControl, hasOnlyShift, SHORTCUTS } from './shortcuts';

const selectorOfRoles = (...roles: string[]): string => roles.map((role) => `[role="${role}"]`).join(', ');
/** Selector of elements that the Delete key resets. */
const RESET_BY_DELETE = selectorOfRoles('slider', 'spinbutton');
/** Selector of elements that handle the arrow keys, Home and End. */
const MOVED_BY_ARROWS = selectorOfRoles('slider', 'spinbutton', 'tablist', 'listbox', 'separator', 'scrollbar');

/** Selector of open modal dialogs, which handle all keys, whatever has the focus. */
const OPEN_MODAL = '.modal-overlay[data-state="open"]';

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null;
}

/**
 * Whether the focused element handles the key. Elements list their keys in `data-keys`. Space
 * presses a button and Delete resets a control only if the focus came from the Tab key (`usesTab`).
 * Otherwise Space plays the song, and Delete deletes the selection.
 */
function isHandledByElement(event: KeyboardEvent, usesTab: boolean): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  const ownKeys = target.closest<HTMLElement>('[data-keys]')?.dataset['keys']?.split(' ') ?? [];
  if (ownKeys.includes(event.key) && hasOnlyShift(event)) return true;
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"]')) return true;
  // The window of a plugin takes all keys, except for those that save, undo and redo.
  const isOfSong = hasControl(event) && ['s', 'y', 'z'].includes(event.key.toLowerCase());
  if (target.closest('[role="application"]') && !isOfSong) return true;
  if (event.key === ' ') return usesTab && target.closest('button, [role="button"], a') !== null;
  if (event.key === 'Delete' || event.key === 'Backspace') return usesTab && target.closest(RESET_BY_DELETE) !== null;
  const arrows = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
  return arrows && target.closest(MOVED_BY_ARROWS) !== null;
}

/** Handles the key events of the page until the returned function is called. */
export function listenToKeys(workspace: Workspace): () => void {
  const { liveKeys } = workspace.playback;
  /** MIDI keys of the notes that are playing, by the code of the computer key. */
  const playingKeys = new Map<string, number>();
  let usesTab = false;

  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Tab') usesTab = true;
    const isOpen = workspace.account.session.state.kind === 'open';
    if (!isOpen || document.querySelector(OPEN_MODAL) || isTyping(event.target) || isHandledByElement(event, usesTab)) return;
    const shortcut = noteShortcutFor(workspace, event) ?? SHORTCUTS.find((candidate) => candidate.matches(event) && candidate.isActive?.(workspace) !== false);
    if (shortcut) {
      event.preventDefault();
      event.stopPropagation();
      shortcut.action(workspace, event);
      return;
    }
    if (!hasOnlyShift(event) || event.shiftKey) return;
    if (workspace.view.preferences.lettersAreTools) return;
    const octaves = octaveShiftOf(event.code);
    const semitone = semitoneOf(event.code);
    if (octaves !== 0) liveKeys.shiftOctave(octaves);
    if (semitone === null || event.repeat || playingKeys.has(event.code)) return;
    event.preventDefault();
    const key = liveKeys.lowestKey + semitone;
    playingKeys.set(event.code, key);
    liveKeys.press(key, liveKeys.velocity, event.timeStamp);
  };

  const release = (event: KeyboardEvent): void => {
    const key = playingKeys.get(event.code);
    if (key === undefined) return;
    playingKeys.delete(event.code);
    liveKeys.release(key, event.timeStamp);
  };

  const releaseAll = (): void => {
    for (const key of playingKeys.values()) liveKeys.release(key);
    playingKeys.clear();
  };

  const usePointer = (): void => {
    usesTab = false;
  };

  // A button that was clicked with the mouse loses the focus, because Space should play the song.
  const blurClickedButton = (event: MouseEvent): void => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (event.detail > 0 && button === document.activeElement && !button?.closest('[role="dialog"]')) button?.blur();
  };

  const listeners = new AbortController();
  const { signal } = listeners;
  window.addEventListener('pointerdown', usePointer, { signal, capture: true });
  window.addEventListener('click', blurClickedButton, { signal });
  // Handlers of the capture phase run before those of elements.
  window.addEventListener('keydown', press, { signal, capture: true });
  window.addEventListener('keyup', release, { signal, capture: true });
  window.addEventListener('blur', releaseAll, { signal });
  return () => listeners.abort();
}
