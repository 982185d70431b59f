/**
 * Edits the notes of an item. Each function receives the notes and the indices of the selected
 * notes. It returns new notes and a new selection.
 */
import { TICK_MAX, type Note } from './model';

export type NoteSelection = ReadonlySet<number>;
export type NotesEdit = { notes: Note[]; selection: Set<number> };

/** Lowest velocity that the page gives a note: MIDI velocity 1 of 127. */
const VELOCITY_MIN = 1 / 127;

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/**
 * Returns the least and the greatest value of some notes. A call such as `Math.min(...values)`
 * would fail for very many notes.
 */
function rangeOf(notes: readonly Note[], valueOf: (note: Note) => number): [least: number, greatest: number] {
  let least = Infinity;
  let greatest = -Infinity;
  for (const note of notes) {
    const value = valueOf(note);
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return [least, greatest];
}

function mapSelected(notes: readonly Note[], selection: NoteSelection, change: (note: Note) => Note): NotesEdit {
  return {
    notes: notes.map((note, index) => (selection.has(index) ? change(note) : note)),
    selection: new Set(selection),
  };
}

/** Appends notes and selects them. */
export function addNotes(notes: readonly Note[], addedNotes: readonly Note[]): NotesEdit {
  const selection = new Set(addedNotes.map((_, index) => notes.length + index));
  return { notes: [...notes, ...addedNotes], selection };
}

export function removeNotes(notes: readonly Note[], selection: NoteSelection): NotesEdit {
  return { notes: notes.filter((_, index) => !selection.has(index)), selection: new Set() };
}

/**
 * Moves the selected notes together. They stop when one of them reaches the start of the item, or
 * the lowest or highest MIDI key.
 */
export function moveNotes(notes: readonly Note[], selection: NoteSelection, byTicks: number, byKeys: number): NotesEdit {
  const selectedNotes = notes.filter((_, index) => selection.has(index));
  if (selectedNotes.length === 0) return { notes: [...notes], selection: new Set(selection) };
  const [firstTick, lastTick] = rangeOf(selectedNotes, (note) => note.tick);
  const [lowestKey, highestKey] = rangeOf(selectedNotes, (note) => note.pitch);
  const tickOffset = clamp(byTicks, -firstTick, TICK_MAX - lastTick);
  const keyOffset = clamp(byKeys, -lowestKey, 127 - highestKey);
  return mapSelected(notes, selection, (note) => ({ ...note, tick: note.tick + tickOffset, pitch: note.pitch + keyOffset }));
}

/** Changes the lengths of the selected notes by `byTicks`, but shortens none below `minTicks`. */
export function resizeNotes(notes: readonly Note[], selection: NoteSelection, byTicks: number, minTicks: number): NotesEdit {
  return mapSelected(notes, selection, (note) => ({
    ...note,
    length_ticks: clamp(note.length_ticks + byTicks, Math.min(minTicks, note.length_ticks), TICK_MAX),
  }));
}

/** Sets the velocity, 0..1, of the selected notes. */
export function setVelocity(notes: readonly Note[], selection: NoteSelection, velocity: number): NotesEdit {
  return mapSelected(notes, selection, (note) => ({ ...note, velocity: clamp(velocity, VELOCITY_MIN, 1) }));
}

/** Changes the velocities of the selected notes by an amount, -1..1. */
export function changeVelocity(notes: readonly Note[], selection: NoteSelection, byVelocity: number): NotesEdit {
  return mapSelected(notes, selection, (note) => ({ ...note, velocity: clamp(note.velocity + byVelocity, VELOCITY_MIN, 1) }));
}

/**
 * Appends copies of the selected notes and selects the copies. The delay of the copies is the time
 * from the first start to the last end of the selected notes, rounded up to a multiple of
 * `stepTicks`.
 */
export function duplicateNotes(notes: readonly Note[], selection: NoteSelection, stepTicks: number): NotesEdit {
  const selectedNotes = notes.filter((_, index) => selection.has(index));
  if (selectedNotes.length === 0) return { notes: [...notes], selection: new Set(selection) };
  const [startTick] = rangeOf(selectedNotes, (note) => note.tick);
  const [, endTick] = rangeOf(selectedNotes, (note) => note.tick + note.length_ticks);
  const gridTicks = Math.max(1, stepTicks);
  const offsetTicks = Math.max(gridTicks, Math.ceil((endTick - startTick) / gridTicks) * gridTicks);
  return addNotes(
    notes,
    selectedNotes.map((note) => ({ ...note, tick: note.tick + offsetTicks })),
  );
}

/** Returns the end of the last note, in ticks from the start of the item. */
export function notesEndTick(notes: readonly Note[]): number {
  return notes.reduce((end, note) => Math.max(end, note.tick + note.length_ticks), 0);
}
