/** Commands of menus and keys that edit the selected notes, clip, effect or automation point. */
import { itemEndTick } from '../../project/audio-time';
import { duplicateItem, findItem, itemId, moveItem, removeItem, setItemNotes } from '../../project/edit-items';
import { duplicateNotes, moveNotes, removeNotes, type NotesEdit } from '../../project/edit-notes';
import type { Note } from '../../project/model';
import type { Preferences } from '../view/preferences.svelte';
import type { AutomationCommands } from './automation-commands.svelte';
import type { EffectCommands } from './effect-commands';
import type { Song } from './song.svelte';
import type { Timeline } from './timeline.svelte';

export class SelectionCommands {
  readonly #song: Song;
  readonly #timeline: Timeline;
  readonly #effects: EffectCommands;
  readonly #automation: AutomationCommands;
  readonly #preferences: Preferences;

  constructor(
    song: Song,
    timeline: Timeline,
    effects: EffectCommands,
    automation: AutomationCommands,
    preferences: Preferences,
  ) {
    this.#song = song;
    this.#timeline = timeline;
    this.#effects = effects;
    this.#automation = automation;
    this.#preferences = preferences;
  }

  duplicate(): void {
    const song = this.#song;
    const { selection } = song;
    const { stepTicks } = this.#preferences;
    if (selection.focus === 'effects') return this.#effects.duplicateSelected();
    if (selection.focus === 'automation') return;
    if (this.#editNotes('Duplicate notes', (notes, selectedIndices) => duplicateNotes(notes, selectedIndices, stepTicks))) return;
    const itemInTrack = findItem(song.project, selection.itemId);
    const copy = itemInTrack && duplicateItem(song.project, itemId(itemInTrack.item), itemEndTick(this.#timeline.songTime, itemInTrack.item));
    if (!copy) return;
    if (song.edit('Duplicate clip', () => copy.project)) selection.selectItem(selection.trackId ?? '', copy.itemId);
  }

  remove(): void {
    const song = this.#song;
    const { selection } = song;
    if (selection.focus === 'effects') return this.#effects.removeSelected();
    if (selection.focus === 'automation') return this.#automation.removeSelected();
    if (this.#editNotes('Delete notes', removeNotes)) return;
    if (selection.focus !== 'tracks' || selection.itemId === null) return;
    const id = selection.itemId;
    if (song.edit('Delete clip', (project) => removeItem(project, id))) selection.itemId = null;
  }

  /**
   * Moves the selected notes, clip or point by grid steps, and the selected effect by indices. Also
   * moves notes by semitones and points by value steps; `byKeys` is the number of these.
   */
  nudge(bySteps: number, byKeys: number): void {
    const song = this.#song;
    const { selection } = song;
    if (selection.focus === 'effects') return this.#effects.moveSelected(bySteps);
    if (selection.focus === 'automation') return this.#automation.nudgeSelected(bySteps, byKeys);
    const ticks = bySteps * this.#preferences.stepTicks;
    const label = bySteps !== 0 ? 'Move notes' : 'Transpose notes';
    if (this.#editNotes(label, (notes, selectedIndices) => moveNotes(notes, selectedIndices, ticks, byKeys))) return;
    const itemInTrack = findItem(song.project, selection.itemId);
    if (!itemInTrack || selection.focus !== 'tracks' || bySteps === 0) return;
    const id = itemId(itemInTrack.item);
    song.edit('Move clip', (project) => moveItem(project, id, itemInTrack.item.start_tick + ticks, itemInTrack.track.id));
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
