/** Commands of menus and keys that edit the selected notes, clip, effect or automation point. */
import { setItemNotes } from '../../project/edit-items';
import { duplicateNotes, moveNotes, removeNotes, type NotesEdit } from '../../project/edit-notes';
import type { Note } from '../../project/model';
import type { Preferences } from '../view/preferences.svelte';
import type { AutomationCommands } from './automation-commands.svelte';
import type { ClipCommands } from './clip-commands';
import type { EffectCommands } from './effect-commands';
import type { Song } from './song.svelte';

export class SelectionCommands {
  readonly #song: Song;
  readonly #clips: ClipCommands;
  readonly #effects: EffectCommands;
  readonly #automation: AutomationCommands;
  readonly #preferences: Preferences;

  constructor(
    song: Song,
    clips: ClipCommands,
    effects: EffectCommands,
    automation: AutomationCommands,
    preferences: Preferences,
  ) {
    this.#song = song;
    this.#clips = clips;
    this.#effects = effects;
    this.#automation = automation;
    this.#preferences = preferences;
  }

  duplicate(): void {
    const { selection } = this.#song;
    const { stepTicks } = this.#preferences;
    if (selection.focus === 'effects') return this.#effects.duplicateSelected();
    if (selection.focus === 'automation') return;
    if (this.#editNotes('Duplicate notes', (notes, selectedIndices) => duplicateNotes(notes, selectedIndices, stepTicks))) return;
    this.#clips.duplicate();
  }

  remove(): void {
    const { selection } = this.#song;
    if (selection.focus === 'effects') return this.#effects.removeSelected();
    if (selection.focus === 'automation') return this.#automation.removeSelected();
    if (this.#editNotes('Delete notes', removeNotes)) return;
    if (selection.focus === 'tracks') this.#clips.remove();
  }

  /**
   * Moves the selected notes, clip or point by grid steps, and the selected effect by indices. Also
   * moves notes by semitones and points by value steps; `byKeys` is the number of these.
   */
  nudge(bySteps: number, byKeys: number): void {
    const { selection } = this.#song;
    if (selection.focus === 'effects') return this.#effects.moveSelected(bySteps);
    if (selection.focus === 'automation') return this.#automation.nudgeSelected(bySteps, byKeys);
    const ticks = bySteps * this.#preferences.stepTicks;
    const label = bySteps !== 0 ? 'Move notes' : 'Transpose notes';
    if (this.#editNotes(label, (notes, selectedIndices) => moveNotes(notes, selectedIndices, ticks, byKeys))) return;
    if (selection.focus === 'tracks') this.#clips.nudge(ticks);
  }

  /** Selects all notes of the clip in the editor, or all clips if a clip or track is selected. */
  selectAll(): void {
    if (this.#song.selection.focus === 'tracks') this.#clips.selectAll();
    else this.selectAllNotes();
  }

  selectAllNotes(): void {
    const { selection } = this.#song;
    if (!selection.midiClip) return;
    selection.focus = 'notes';
    selection.notes = new Set(selection.midiClip.item.notes.keys());
  }

  /** Edits the selected notes, unless they are frozen. Returns false if no notes are selected. */
  #editNotes(
    label: string,
    change: (notes: readonly Note[], selectedIndices: ReadonlySet<number>) => NotesEdit,
  ): boolean {
    const song = this.#song;
    const { selection } = song;
    const clip = selection.midiClip;
    if (selection.focus !== 'notes' || selection.notes.size === 0 || !clip) return false;
    const edit = change(clip.item.notes, selection.notes);
    if (song.edit(label, (project) => setItemNotes(project, clip.item.id, edit.notes))) selection.notes = edit.selection;
    return true;
  }
}
