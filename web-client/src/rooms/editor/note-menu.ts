/** The entries of the menus of notes. */
import type { Editing } from '../../state/contexts';
import type { MenuEntry } from '../../ui/menu-entry';

/** Returns the commands of the clip's notes, for the context menu and for the menu of the tools. */
export function noteEntries({ selection, noteCommands, selectionCommands, loopCommands }: Editing): MenuEntry[] {
  const hasClip = selection.midiClip !== null;
  const hasSelection = hasClip && selection.notes.size > 0;
  return [
    { kind: 'command', label: 'Cut', keys: 'Ctrl X', disabled: !hasSelection, action: () => noteCommands.cut() },
    { kind: 'command', label: 'Copy', keys: 'Ctrl C', disabled: !hasSelection, action: () => noteCommands.copy() },
    { kind: 'command', label: 'Paste at the cursor', keys: 'Ctrl V', disabled: !hasClip || !noteCommands.canPaste, action: () => noteCommands.paste() },
    { kind: 'command', label: 'Duplicate', keys: 'Ctrl D', disabled: !hasSelection, action: () => selectionCommands.duplicate() },
    { kind: 'command', label: 'Delete', keys: 'Del', disabled: !hasSelection, action: () => selectionCommands.remove() },
    { kind: 'command', label: 'Select all notes', keys: 'Ctrl A', disabled: !hasClip, action: () => selectionCommands.selectAllNotes() },
    { kind: 'separator' },
    { kind: 'command', label: 'Quantize', disabled: !hasClip, action: () => noteCommands.quantize() },
    { kind: 'command', label: 'Legato', disabled: !hasClip, action: () => noteCommands.legato() },
    { kind: 'command', label: 'Humanize', disabled: !hasClip, action: () => noteCommands.humanize() },
    { kind: 'command', label: 'Transpose up an octave', disabled: !hasClip, action: () => noteCommands.transpose(12) },
    { kind: 'command', label: 'Transpose down an octave', disabled: !hasClip, action: () => noteCommands.transpose(-12) },
    { kind: 'separator' },
    { kind: 'command', label: 'Loop the selected notes', disabled: !hasSelection, action: () => loopCommands.loopSelection() },
  ];
}
