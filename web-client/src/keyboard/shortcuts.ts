/**
 * The keyboard shortcuts, as one table: the "?" dialog lists the same entries that the keys
 * trigger.
 */
import { EDITOR_TABS, type EditorTab } from '../rooms/editor/tabs';
import type { Workspace } from '../state/contexts';

export type Shortcut = {
  group: 'Playing' | 'Song' | 'Editing' | 'View';
  /** The keys as the dialog shows them; `Ctrl` stands for Command on a Mac. */
  keys: string;
  label: string;
  matches: (event: KeyboardEvent) => boolean;
  action: (workspace: Workspace, event: KeyboardEvent) => void;
};

/** Whether an event has no modifier but Shift. */
export const bare = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey;
const control = (event: KeyboardEvent): boolean => (event.ctrlKey || event.metaKey) && !event.altKey;
const letter = (name: string, shift = false) => (event: KeyboardEvent) =>
  control(event) && event.shiftKey === shift && event.key.toLowerCase() === name;
const plain = (name: string, shift = false) => (event: KeyboardEvent) =>
  bare(event) && event.shiftKey === shift && event.key === name;

function nudge({ editing: { selectionCommands } }: Workspace, event: KeyboardEvent): void {
  const semitones = event.shiftKey ? 12 : 1;
  if (event.key === 'ArrowLeft') selectionCommands.nudge(-1, 0);
  else if (event.key === 'ArrowRight') selectionCommands.nudge(1, 0);
  else selectionCommands.nudge(0, event.key === 'ArrowUp' ? semitones : -semitones);
}

/** The shortcuts that show an editor tab, for tabs that have one. */
export function tabShortcuts(tabs: readonly EditorTab[]): Shortcut[] {
  return tabs.flatMap(({ id, title, shortcut }): Shortcut[] => {
    if (!shortcut) return [];
    return [{ group: 'View', ...shortcut, label: `Show ${title}`, action: ({ view }) => view.showEditor(id) }];
  });
}

export const SHORTCUTS: readonly Shortcut[] = [
  { group: 'Playing', keys: 'Space', label: 'Play or pause', matches: plain(' '), action: ({ playback }) => playback.transport.togglePlay() },
  { group: 'Playing', keys: 'Home', label: 'Go to the start', matches: plain('Home'), action: ({ playback }) => playback.transport.seek(0) },
  { group: 'Playing', keys: 'End', label: 'Go to the end', matches: plain('End'), action: ({ playback }) => playback.transport.seekEnd() },
  { group: 'Song', keys: 'Ctrl S', label: 'Save', matches: letter('s'), action: ({ songs }) => void songs.saving.save() },
  { group: 'Song', keys: 'Ctrl E', label: 'Export', matches: letter('e'), action: ({ view }) => (view.dialog = 'export') },
  { group: 'Editing', keys: 'Ctrl Z', label: 'Undo', matches: letter('z'), action: ({ editing }) => editing.song.undo() },
  { group: 'Editing', keys: 'Ctrl Shift Z', label: 'Redo', matches: letter('z', true), action: ({ editing }) => editing.song.redo() },
  { group: 'Editing', keys: 'Ctrl Y', label: 'Redo', matches: letter('y'), action: ({ editing }) => editing.song.redo() },
  { group: 'Editing', keys: 'Ctrl D', label: 'Duplicate clip, notes or effect', matches: letter('d'), action: ({ editing }) => editing.selectionCommands.duplicate() },
  { group: 'Editing', keys: 'Ctrl K', label: 'Split the audio clip at the playhead', matches: letter('k'), action: ({ editing }) => editing.audioClipCommands.split() },
  { group: 'Editing', keys: 'Ctrl A', label: 'Select all notes of the clip', matches: letter('a'), action: ({ editing }) => editing.selectionCommands.selectAllNotes() },
  { group: 'Editing', keys: 'Delete', label: 'Delete clip, notes, effect or point', matches: (event) => bare(event) && (event.key === 'Delete' || event.key === 'Backspace'), action: ({ editing }) => editing.selectionCommands.remove() },
  { group: 'Editing', keys: '← →', label: 'Move by a grid step; move an effect by one position', matches: (event) => plain('ArrowLeft')(event) || plain('ArrowRight')(event), action: nudge },
  { group: 'Editing', keys: '↑ ↓', label: 'Transpose notes by a semitone; raise or lower a point', matches: (event) => plain('ArrowUp')(event) || plain('ArrowDown')(event), action: nudge },
  { group: 'Editing', keys: 'Shift ↑ ↓', label: 'Transpose notes by an octave', matches: (event) => plain('ArrowUp', true)(event) || plain('ArrowDown', true)(event), action: nudge },
  { group: 'View', keys: '?', label: 'Show these shortcuts', matches: (event) => bare(event) && event.key === '?', action: ({ view }) => (view.dialog = 'shortcuts') },
  ...tabShortcuts(EDITOR_TABS),
];
