/**
 * The table of keyboard shortcuts. `listen-to-keys.ts` runs its entries, and the dialog of the "?"
 * key lists them.
 */
import { EDITOR_TABS, type EditorTab } from '../rooms/editor/tabs';
import type { Workspace } from '../state/contexts';

export type Shortcut = {
  group: 'Playing' | 'Song' | 'Editing' | 'Piano roll' | 'View';
  /** The keys as the dialog shows them; `Ctrl` stands for Command on a Mac. */
  keys: string;
  label: string;
  matches: (event: KeyboardEvent) => boolean;
  /** Whether the shortcut applies in the current state; by default it always does. */
  isActive?: (workspace: Workspace) => boolean;
  action: (workspace: Workspace, event: KeyboardEvent) => void;
};

/** Whether an event has no modifier key, except perhaps Shift. */
export const hasOnlyShift = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey;
/** Whether an event has Ctrl or Command, and not Alt. */
export const hasControl = (event: KeyboardEvent): boolean => (event.ctrlKey || event.metaKey) && !event.altKey;
/** Returns a test for a key with Ctrl or Command. */
export const controlKey = (name: string, shift = false) => (event: KeyboardEvent) =>
  hasControl(event) && event.shiftKey === shift && event.key.toLowerCase() === name;
/** Returns a test for a key without Ctrl, Command and Alt. */
export const plainKey = (name: string, shift = false) => (event: KeyboardEvent) =>
  hasOnlyShift(event) && event.shiftKey === shift && event.key === name;

/** Whether the clipboard is about notes: they were edited last, and the piano roll is shown. */
const areNotesEdited = ({ editing: { selection }, view }: Workspace): boolean =>
  selection.focus === 'notes' && selection.midiClip !== null && view.editorTab === 'roll';

function nudge({ editing: { selectionCommands } }: Workspace, event: KeyboardEvent): void {
  const semitones = event.shiftKey ? 12 : 1;
  if (event.key === 'ArrowLeft') selectionCommands.nudge(-1, 0);
  else if (event.key === 'ArrowRight') selectionCommands.nudge(1, 0);
  else selectionCommands.nudge(0, event.key === 'ArrowUp' ? semitones : -semitones);
}

/** Returns the shortcuts that show an editor tab, for tabs that have a shortcut. */
export function tabShortcuts(tabs: readonly EditorTab[]): Shortcut[] {
  return tabs.flatMap(({ id, title, shortcut }): Shortcut[] => {
    if (!shortcut) return [];
    return [{ group: 'View', ...shortcut, label: `Show ${title}`, action: ({ view }) => view.showEditor(id) }];
  });
}

export const SHORTCUTS: readonly Shortcut[] = [
  { group: 'Playing', keys: 'Space', label: 'Play or pause', matches: plainKey(' '), action: ({ playback }) => playback.transport.togglePlay() },
  { group: 'Playing', keys: 'Home', label: 'Go to the start', matches: plainKey('Home'), action: ({ playback }) => playback.transport.seek(0) },
  { group: 'Playing', keys: 'End', label: 'Go to the end', matches: plainKey('End'), action: ({ playback }) => playback.transport.seekEnd() },
  { group: 'Playing', keys: 'R', label: 'Record on the armed or selected track; again to end the recording', matches: (event) => hasOnlyShift(event) && !event.shiftKey && !event.repeat && event.code === 'KeyR', action: ({ playback }) => playback.recorder.toggle() },
  { group: 'Playing', keys: 'L', label: 'Switch the loop on or off, if letters do not play notes', matches: (event) => hasOnlyShift(event) && !event.shiftKey && event.code === 'KeyL', isActive: ({ view }) => view.preferences.lettersAreTools, action: ({ editing }) => editing.loopCommands.toggle() },
  { group: 'Playing', keys: 'Shift L', label: 'Switch the loop on or off', matches: (event) => hasOnlyShift(event) && event.shiftKey && event.code === 'KeyL', action: ({ editing }) => editing.loopCommands.toggle() },
  { group: 'Playing', keys: 'Shift K', label: 'Switch the metronome on or off', matches: (event) => hasOnlyShift(event) && event.shiftKey && event.code === 'KeyK', action: ({ view: { preferences } }) => preferences.setTransport({ metronome: !preferences.transport.metronome }) },
  { group: 'Song', keys: 'Ctrl S', label: 'Save', matches: controlKey('s'), action: ({ songs }) => void songs.saving.save() },
  { group: 'Song', keys: 'Ctrl E', label: 'Export', matches: controlKey('e'), action: ({ view }) => (view.dialog = 'export') },
  { group: 'Editing', keys: 'Ctrl Z', label: 'Undo', matches: controlKey('z'), action: ({ editing }) => editing.song.undo() },
  { group: 'Editing', keys: 'Ctrl Shift Z', label: 'Redo', matches: controlKey('z', true), action: ({ editing }) => editing.song.redo() },
  { group: 'Editing', keys: 'Ctrl Y', label: 'Redo', matches: controlKey('y'), action: ({ editing }) => editing.song.redo() },
  { group: 'Editing', keys: 'Ctrl C', label: 'Copy clips, or the track', matches: controlKey('c'), action: (workspace) => void (areNotesEdited(workspace) ? workspace.editing.noteCommands.copy() : workspace.editing.clipCommands.copy()) },
  { group: 'Editing', keys: 'Ctrl X', label: 'Cut clips, or the track', matches: controlKey('x'), action: (workspace, event) => {
    // A held key would cut the clip and then its track.
    if (event.repeat) return;
    if (areNotesEdited(workspace)) workspace.editing.noteCommands.cut();
    else workspace.editing.clipCommands.cut();
  } },
  { group: 'Editing', keys: 'Ctrl V', label: 'Paste clips at the playhead, or a track', matches: controlKey('v'), action: (workspace) => (areNotesEdited(workspace) ? workspace.editing.noteCommands.paste() : workspace.editing.clipCommands.paste()) },
  { group: 'Editing', keys: 'Ctrl D', label: 'Duplicate clips, track, notes or effect', matches: controlKey('d'), action: ({ editing }) => editing.selectionCommands.duplicate() },
  { group: 'Editing', keys: 'Ctrl K', label: 'Split clips at the playhead', matches: controlKey('k'), action: ({ editing }) => editing.clipCommands.split() },
  { group: 'Editing', keys: 'Ctrl J', label: 'Join MIDI clips', matches: controlKey('j'), action: ({ editing }) => editing.clipCommands.join() },
  { group: 'Editing', keys: 'Ctrl A', label: 'Select all clips, or all notes in the piano roll', matches: controlKey('a'), action: ({ editing }) => editing.selectionCommands.selectAll() },
  { group: 'Editing', keys: 'Alt ↑ ↓', label: 'Move the track up or down', matches: (event) => event.altKey && !event.ctrlKey && !event.metaKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown'), action: ({ editing }, event) => editing.trackCommands.move(event.key === 'ArrowUp' ? -1 : 1) },
  { group: 'Editing', keys: 'Delete', label: 'Delete clip, notes, effect or point', matches: (event) => hasOnlyShift(event) && (event.key === 'Delete' || event.key === 'Backspace'), action: ({ editing }) => editing.selectionCommands.remove() },
  { group: 'Editing', keys: '← →', label: 'Move by a grid step; move an effect by one position', matches: (event) => plainKey('ArrowLeft')(event) || plainKey('ArrowRight')(event), action: nudge },
  { group: 'Editing', keys: '↑ ↓', label: 'Transpose notes by a semitone; raise or lower a point', matches: (event) => plainKey('ArrowUp')(event) || plainKey('ArrowDown')(event), action: nudge },
  { group: 'Editing', keys: 'Shift ↑ ↓', label: 'Transpose notes by an octave', matches: (event) => plainKey('ArrowUp', true)(event) || plainKey('ArrowDown', true)(event), action: nudge },
  { group: 'View', keys: 'Shift T', label: 'Show or hide the takes of the track', matches: (event) => hasOnlyShift(event) && event.shiftKey && event.code === 'KeyT', action: ({ editing }) => editing.takeCommands.toggle() },
  { group: 'View', keys: 'Shift M', label: 'Let the editor fill the page, or not', matches: plainKey('M', true), action: ({ view }) => view.layout.toggleMaximizedEditor() },
  { group: 'View', keys: '?', label: 'Show these shortcuts', matches: (event) => hasOnlyShift(event) && event.key === '?', action: ({ view }) => (view.dialog = 'shortcuts') },
  ...tabShortcuts(EDITOR_TABS),
];
