/**
 * The keyboard shortcuts of the piano roll. They take precedence over those of the page while its
 * notes have the focus.
 */
import type { Workspace } from '../state/contexts';
import { controlKey, hasControl, hasOnlyShift, plainKey, type Shortcut } from './shortcuts';

/** A shortcut of the piano roll. */
export type NoteShortcut = Shortcut;

/** Change of the velocity by one press of a key. */
const VELOCITY_STEP = 5 / 127;

const hasNoSelection = ({ editing }: Workspace): boolean => editing.selection.notes.size === 0;
const hasSelection = ({ editing }: Workspace): boolean => editing.selection.notes.size > 0;
const isTool = ({ view }: Workspace): boolean => view.preferences.lettersAreTools;
const isStepInput = (workspace: Workspace): boolean => workspace.editing.stepInput.isOn && hasNoSelection(workspace);
const group = 'Piano roll';

function toolKey(letter: string, label: string, action: Shortcut['action']): NoteShortcut {
  return { group, keys: letter, label: `${label}, if letters choose tools`, matches: plainKey(letter.toLowerCase()), isActive: isTool, action };
}

const horizontal = (event: KeyboardEvent): number => (event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0);
const vertical = (event: KeyboardEvent): number => (event.key === 'ArrowDown' ? -1 : event.key === 'ArrowUp' ? 1 : 0);

export const NOTE_SHORTCUTS: readonly NoteShortcut[] = [
  { group, keys: 'Ctrl C', label: 'Copy notes', matches: controlKey('c'), action: ({ editing }) => void editing.noteCommands.copy() },
  { group, keys: 'Ctrl X', label: 'Cut notes', matches: controlKey('x'), action: ({ editing }) => editing.noteCommands.cut() },
  { group, keys: 'Ctrl V', label: 'Paste notes at the cursor', matches: controlKey('v'), action: ({ editing }) => editing.noteCommands.paste() },
  { group, keys: 'PgUp PgDn', label: 'Select the previous or next note; with Shift, add it', matches: (event) => hasOnlyShift(event) && (event.key === 'PageUp' || event.key === 'PageDown'), action: ({ editing }, event) => editing.noteCommands.selectNext(event.key === 'PageUp' ? -1 : 1, event.shiftKey) },
  { group, keys: 'Escape', label: 'Select no note', matches: plainKey('Escape'), isActive: hasSelection, action: ({ editing }) => editing.noteCommands.deselect() },
  { group, keys: '← → ↑ ↓', label: 'Without selected notes: move the cursor', matches: (event) => hasOnlyShift(event) && event.key.startsWith('Arrow'), isActive: hasNoSelection, action: ({ editing }, event) => editing.noteCommands.moveCursor(horizontal(event), vertical(event) * (event.shiftKey ? 12 : 1)) },
  { group, keys: 'Enter', label: 'Draw or delete a note at the cursor', matches: plainKey('Enter'), isActive: hasNoSelection, action: ({ editing }) => editing.noteCommands.toggleAtCursor() },
  { group, keys: 'Backspace', label: 'In step input: delete the last step', matches: plainKey('Backspace'), isActive: isStepInput, action: ({ editing }) => editing.noteCommands.deleteStepBeforeCursor() },
  { group, keys: 'Ctrl ← →', label: 'Shorten or lengthen notes', matches: (event) => hasControl(event) && horizontal(event) !== 0, isActive: hasSelection, action: ({ editing }, event) => editing.noteCommands.resize(horizontal(event)) },
  { group, keys: 'Ctrl ↑ ↓', label: 'Change the velocity of notes', matches: (event) => hasControl(event) && vertical(event) !== 0, isActive: hasSelection, action: ({ editing }, event) => editing.noteCommands.changeVelocity(vertical(event) * VELOCITY_STEP) },
  toolKey('V', 'Select tool', ({ editing }) => (editing.noteCommands.tool = 'select')),
  toolKey('D', 'Draw tool', ({ editing }) => (editing.noteCommands.tool = 'draw')),
  toolKey('Q', 'Quantize', ({ editing }) => editing.noteCommands.quantize()),
  toolKey('G', 'Legato', ({ editing }) => editing.noteCommands.legato()),
  toolKey('H', 'Humanize', ({ editing }) => editing.noteCommands.humanize()),
  toolKey('S', 'Step input on or off', ({ editing }) => editing.stepInput.toggle()),
];

/**
 * Returns the shortcut of the piano roll for an event; undefined if there is none. The roll has the
 * focus itself, or its notes were edited last and no other element has the focus.
 */
export function noteShortcutFor(workspace: Workspace, event: KeyboardEvent): Shortcut | undefined {
  const { selection } = workspace.editing;
  if (selection.focus !== 'notes' || !selection.midiClip || workspace.view.editorTab !== 'roll') return undefined;
  const { target } = event;
  const isInRoll = target === document.body || (target instanceof HTMLElement && target.closest('[data-roll]') !== null);
  if (!isInRoll) return undefined;
  return NOTE_SHORTCUTS.find((shortcut) => shortcut.matches(event) && shortcut.isActive?.(workspace) !== false);
}
