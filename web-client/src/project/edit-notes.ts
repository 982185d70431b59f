/**
 * Edits of a list of notes. Each function takes notes and the indices of the selected ones, and
 * returns new notes and a new selection.
 */
import { TICK_MAX, type Note } from './model';

export type NoteSelection = ReadonlySet<number>;
export type NotesEdit = { notes: Note[]; selection: Set<number> };

/** Lowest velocity that the page writes: MIDI velocity 1. */
const VELOCITY_MIN = 1 / 127;

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function mapSelected(notes: readonly Note[], selection: NoteSelection, change: (note: Note) => Note): NotesEdit {
  return {
    notes: notes.map((note, index) => (selection.has(index) ? change(note) : note)),
    selection: new Set(selection),
  };
}

/** Adds notes at the end of the list and selects them. */
export function addNotes(notes: readonly Note[], added: readonly Note[]): NotesEdit {
  const selection = new Set(added.map((_, index) => notes.length + index));
  return { notes: [...notes, ...added], selection };
}

export function removeNotes(notes: readonly Note[], selection: NoteSelection): NotesEdit {
  return { notes: notes.filter((_, index) => !selection.has(index)), selection: new Set() };
}

/**
 * Moves the selected notes together. The group stops at the start of the item, and at the lowest
 * and highest MIDI key.
 */
export function moveNotes(notes: readonly Note[], selection: NoteSelection, byTicks: number, byKeys: number): NotesEdit {
  const moved = notes.filter((_, index) => selection.has(index));
  if (moved.length === 0) return { notes: [...notes], selection: new Set(selection) };
  const ticks = moved.map((note) => note.tick);
  const pitches = moved.map((note) => note.pitch);
  const dTicks = clamp(byTicks, -Math.min(...ticks), TICK_MAX - Math.max(...ticks));
  const dKeys = clamp(byKeys, -Math.min(...pitches), 127 - Math.max(...pitches));
  return mapSelected(notes, selection, (note) => ({ ...note, tick: note.tick + dTicks, pitch: note.pitch + dKeys }));
}

/** Lengthens or shortens the selected notes, none below `minTicks`. */
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

/**
 * Moves the start of the selected notes, or of all notes without a selection, towards the nearest
 * multiple of `stepTicks` in the song. `strength` is 0..1; 1 moves notes onto the grid.
 * `itemStartTick` is the position of the item in the song.
 */
export function quantiseNotes(
  notes: readonly Note[],
  selection: NoteSelection,
  itemStartTick: number,
  stepTicks: number,
  strength: number,
): NotesEdit {
  if (stepTicks <= 0) return { notes: [...notes], selection: new Set(selection) };
  const all = selection.size === 0;
  return {
    notes: notes.map((note, index) => {
      if (!all && !selection.has(index)) return note;
      const tick = itemStartTick + note.tick;
      const target = Math.round(tick / stepTicks) * stepTicks;
      const moved = Math.max(0, Math.round(tick + (target - tick) * strength) - itemStartTick);
      return moved === note.tick ? note : { ...note, tick: moved };
    }),
    selection: new Set(selection),
  };
}

/** Appends copies of the selected notes after the group, and selects the copies. */
export function duplicateNotes(notes: readonly Note[], selection: NoteSelection, stepTicks: number): NotesEdit {
  const copied = notes.filter((_, index) => selection.has(index));
  if (copied.length === 0) return { notes: [...notes], selection: new Set(selection) };
  const start = Math.min(...copied.map((note) => note.tick));
  const end = Math.max(...copied.map((note) => note.tick + note.length_ticks));
  const step = Math.max(1, stepTicks);
  const offset = Math.max(step, Math.ceil((end - start) / step) * step);
  return addNotes(
    notes,
    copied.map((note) => ({ ...note, tick: note.tick + offset })),
  );
}

/** The end of the last note, in ticks of the item. */
export function notesEndTick(notes: readonly Note[]): number {
  return notes.reduce((end, note) => Math.max(end, note.tick + note.length_ticks), 0);
}
