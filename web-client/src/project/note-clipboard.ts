/** Copies of notes that can be pasted into any clip, also of another song. */
import { addNotes, type NoteSelection, type NotesEdit } from './edit-notes';
import { TICK_MAX, type Note } from './model';

/** Copied notes. The first one starts at tick 0. */
export type CopiedNotes = {
  notes: readonly Note[];
  /** Ticks from the start of the grid step of the first note to that note. */
  offsetTicks: number;
  /** Length of the copied passage in ticks, in whole grid steps. */
  lengthTicks: number;
};

/**
 * Copies the selected notes of an item that starts at `itemStartTick`; null without a selection.
 * The passage begins and ends at grid steps of `stepTicks`, so pasted notes keep their distances
 * from the steps.
 */
export function copyNotes(notes: readonly Note[], selection: NoteSelection, itemStartTick: number, stepTicks: number): CopiedNotes | null {
  const selectedNotes = notes.filter((_, index) => selection.has(index));
  if (selectedNotes.length === 0) return null;
  const startTick = selectedNotes.reduce((tick, note) => Math.min(tick, note.tick), Infinity);
  const endTick = selectedNotes.reduce((tick, note) => Math.max(tick, note.tick + note.length_ticks), 0);
  const gridTicks = Math.max(1, stepTicks);
  const offsetTicks = (itemStartTick + startTick) % gridTicks;
  return {
    notes: selectedNotes.map((note) => ({ ...note, tick: note.tick - startTick })),
    offsetTicks,
    lengthTicks: Math.ceil((offsetTicks + endTick - startTick) / gridTicks) * gridTicks,
  };
}

/**
 * Adds copied notes to the notes of an item, and selects them. `atTick` is the position of the
 * passage, in ticks from the start of the item.
 */
export function pasteNotes(notes: readonly Note[], copiedNotes: CopiedNotes, atTick: number): NotesEdit {
  const firstTick = Math.max(0, Math.round(atTick)) + copiedNotes.offsetTicks;
  const addedNotes = copiedNotes.notes.map((note) => ({ ...note, tick: Math.min(TICK_MAX, firstTick + note.tick) }));
  return addNotes(notes, addedNotes);
}
