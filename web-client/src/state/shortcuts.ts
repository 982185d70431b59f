/** The keys of the page, as one table: what "?" shows is what works. */
import { octaveShiftOf, semitoneOf } from '../engine/computer-keys';
import type { App } from './app.svelte';

export type Shortcut = {
  group: 'Playing' | 'Song' | 'Editing' | 'View';
  /** As shown to people; `Ctrl` stands for Command on a Mac. */
  keys: string;
  label: string;
  /** Whether an event is this shortcut. */
  on: (event: KeyboardEvent) => boolean;
  run: (app: App, event: KeyboardEvent) => void;
};

const bare = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey;
const control = (event: KeyboardEvent): boolean => (event.ctrlKey || event.metaKey) && !event.altKey;
const letter = (name: string, shift = false) => (event: KeyboardEvent) =>
  control(event) && event.shiftKey === shift && event.key.toLowerCase() === name;
const plain = (name: string, shift = false) => (event: KeyboardEvent) =>
  bare(event) && event.shiftKey === shift && event.key === name;

function nudge(app: App, event: KeyboardEvent): void {
  const keys = event.shiftKey ? 12 : 1;
  if (event.key === 'ArrowLeft') app.commands.nudge(-1, 0);
  else if (event.key === 'ArrowRight') app.commands.nudge(1, 0);
  else app.commands.nudge(0, event.key === 'ArrowUp' ? keys : -keys);
}

export const SHORTCUTS: readonly Shortcut[] = [
  { group: 'Playing', keys: 'Space', label: 'Play or pause', on: plain(' '), run: (app) => app.commands.togglePlay() },
  { group: 'Playing', keys: 'Home', label: 'Go to the start', on: plain('Home'), run: (app) => app.commands.seek(0) },
  { group: 'Playing', keys: 'End', label: 'Go to the end', on: plain('End'), run: (app) => app.commands.seekEnd() },
  { group: 'Song', keys: 'Ctrl S', label: 'Save', on: letter('s'), run: (app) => void app.saving.save() },
  { group: 'Song', keys: 'Ctrl E', label: 'Export', on: letter('e'), run: (app) => (app.dialog = 'export') },
  { group: 'Editing', keys: 'Ctrl Z', label: 'Undo', on: letter('z'), run: (app) => app.song.undo() },
  { group: 'Editing', keys: 'Ctrl Shift Z', label: 'Redo', on: letter('z', true), run: (app) => app.song.redo() },
  { group: 'Editing', keys: 'Ctrl Y', label: 'Redo', on: letter('y'), run: (app) => app.song.redo() },
  { group: 'Editing', keys: 'Ctrl D', label: 'Duplicate clip, notes or effect', on: letter('d'), run: (app) => app.commands.duplicate() },
  { group: 'Editing', keys: 'Ctrl K', label: 'Split the audio clip at the playhead', on: letter('k'), run: (app) => app.clips.split() },
  { group: 'Editing', keys: 'Ctrl A', label: 'Select all notes of the clip', on: letter('a'), run: (app) => app.commands.selectAll() },
  { group: 'Editing', keys: 'Delete', label: 'Delete clip, notes, effect or point', on: (event) => bare(event) && (event.key === 'Delete' || event.key === 'Backspace'), run: (app) => app.commands.deleteSelection() },
  { group: 'Editing', keys: '← →', label: 'Move by a step of the grid; an effect by a place', on: (event) => plain('ArrowLeft')(event) || plain('ArrowRight')(event), run: nudge },
  { group: 'Editing', keys: '↑ ↓', label: 'Transpose notes by a semitone; raise or lower a point', on: (event) => plain('ArrowUp')(event) || plain('ArrowDown')(event), run: nudge },
  { group: 'Editing', keys: 'Shift ↑ ↓', label: 'Transpose notes by an octave', on: (event) => plain('ArrowUp', true)(event) || plain('ArrowDown', true)(event), run: nudge },
  { group: 'View', keys: '?', label: 'Show these shortcuts', on: (event) => bare(event) && event.key === '?', run: (app) => (app.dialog = 'shortcuts') },
];

const ofRoles = (...roles: string[]): string => roles.map((role) => `[role="${role}"]`).join(', ');
/** Elements that Delete resets. */
const RESET_BY_DELETE = ofRoles('slider', 'spinbutton');
/** Elements that the arrow keys, Home and End move. */
const MOVED_BY_ARROWS = ofRoles('slider', 'spinbutton', 'tablist', 'listbox', 'separator', 'scrollbar');

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null;
}

/**
 * Whether the event is meant for the element it happened on. Only when the Tab key
 * led there (`tabbed`), Space presses a button and Delete resets a control; else the
 * one plays, and the other deletes what is selected.
 */
function isTaken(event: KeyboardEvent, tabbed: boolean): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"]')) return true;
  if (event.key === ' ') return tabbed && target.closest('button, [role="button"], a') !== null;
  if (event.key === 'Delete' || event.key === 'Backspace') return tabbed && target.closest(RESET_BY_DELETE) !== null;
  const arrows = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
  return arrows && target.closest(MOVED_BY_ARROWS) !== null;
}

/** Listens to the window's keys; answers with what ends it. */
export function listenToKeys(app: App): () => void {
  const sounding = new Map<string, number>();
  let tabbed = false;

  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Tab') tabbed = true;
    if (app.session.phase !== 'open' || isTyping(event.target) || isTaken(event, tabbed)) {
      return;
    }
    const shortcut = SHORTCUTS.find((candidate) => candidate.on(event));
    if (shortcut) {
      event.preventDefault();
      event.stopPropagation();
      shortcut.run(app, event);
      return;
    }
    if (!bare(event) || event.shiftKey) return;
    const shift = octaveShiftOf(event.code);
    const semitone = semitoneOf(event.code);
    if (shift !== 0) app.keyboardOctave = Math.min(8, Math.max(0, app.keyboardOctave + shift));
    if (semitone === null || event.repeat || sounding.has(event.code)) return;
    event.preventDefault();
    const key = (app.keyboardOctave + 1) * 12 + semitone;
    sounding.set(event.code, key);
    app.keys.press(key);
  };

  const release = (event: KeyboardEvent): void => {
    const key = sounding.get(event.code);
    if (key === undefined) return;
    sounding.delete(event.code);
    app.keys.release(key);
  };

  const releaseAll = (): void => {
    for (const key of sounding.values()) app.keys.release(key);
    sounding.clear();
  };

  const point = (): void => {
    tabbed = false;
  };

  // A button clicked with the mouse gives the keys back, so that Space goes on playing.
  const giveBack = (event: MouseEvent): void => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (event.detail > 0 && button === document.activeElement && !button?.closest('[role="dialog"]')) button?.blur();
  };

  window.addEventListener('pointerdown', point, true);
  window.addEventListener('click', giveBack);
  // Before anything on the page takes the key for itself.
  window.addEventListener('keydown', press, true);
  window.addEventListener('keyup', release);
  window.addEventListener('blur', releaseAll);
  return () => {
    window.removeEventListener('pointerdown', point, true);
    window.removeEventListener('click', giveBack);
    window.removeEventListener('keydown', press, true);
    window.removeEventListener('keyup', release);
    window.removeEventListener('blur', releaseAll);
  };
}
