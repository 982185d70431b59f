/**
 * Edits that change the timing and the expression of notes: quantizing, legato and humanizing. Each
 * function receives notes and the indices of the selected notes; without a selection, it changes
 * all notes.
 */
import type { NoteSelection, NotesEdit } from './edit-notes';
import { TICK_MAX, type Note } from './model';

/** Lowest velocity of a note: MIDI velocity 1 of 127. */
const VELOCITY_MIN = 1 / 127;

/** How notes are quantized. */
export type QuantizeOptions = {
  /** Length of a grid step in ticks; 0 leaves the notes where they are. */
  stepTicks: number;
  /** How far notes move towards the grid, 0..1; 1 moves notes onto the grid. */
  strength: number;
  /**
   * Position of every second grid step within its pair of steps, 0.5..0.75. At 0.5 the steps are
   * even; at 2/3 they are those of triplets.
   */
  swing: number;
};

/** How much notes are humanized. */
export type HumanizeOptions = {
  /** Greatest change of a note's start, in ticks. */
  timingTicks: number;
  /** Greatest change of a note's velocity, 0..1. */
  velocity: number;
  /** Seed of the random numbers: the same seed gives the same notes. */
  seed: number;
};

function changeSelected(notes: readonly Note[], selection: NoteSelection, change: (note: Note, index: number) => Note): NotesEdit {
  const changesAll = selection.size === 0;
  return {
    notes: notes.map((note, index) => (changesAll || selection.has(index) ? change(note, index) : note)),
    selection: new Set(selection),
  };
}

/**
 * Returns the position of the grid step that is nearest to `tick`. Every second step is delayed by
 * the swing.
 */
export function swungStepNear(tick: number, { stepTicks, swing }: Pick<QuantizeOptions, 'stepTicks' | 'swing'>): number {
  const pairTicks = 2 * stepTicks;
  const pairStart = Math.floor(tick / pairTicks) * pairTicks;
  const steps = [pairStart, pairStart + pairTicks * swing, pairStart + pairTicks];
  return steps.reduce((nearestStep, step) => (Math.abs(step - tick) < Math.abs(nearestStep - tick) || (step > nearestStep && Math.abs(step - tick) === Math.abs(nearestStep - tick)) ? step : nearestStep));
}

/**
 * Moves the starts of notes towards the nearest step of the grid, which counts from the start of
 * the song. `itemStartTick` is the position of the item in the song.
 */
export function quantizeNotes(notes: readonly Note[], selection: NoteSelection, itemStartTick: number, options: QuantizeOptions): NotesEdit {
  if (options.stepTicks <= 0) return { notes: [...notes], selection: new Set(selection) };
  return changeSelected(notes, selection, (note) => {
    const tick = itemStartTick + note.tick;
    const target = swungStepNear(tick, options);
    const movedTick = Math.max(0, Math.round(tick + (target - tick) * options.strength) - itemStartTick);
    return movedTick === note.tick ? note : { ...note, tick: movedTick };
  });
}

/**
 * Sets the length of each note so that it ends where the next note starts. Notes that start
 * together end together; the last notes keep their lengths.
 */
export function legatoNotes(notes: readonly Note[], selection: NoteSelection): NotesEdit {
  const changesAll = selection.size === 0;
  const startTicks = notes.flatMap((note, index) => (changesAll || selection.has(index) ? [note.tick] : []));
  const sortedTicks = [...new Set(startTicks)].sort((first, second) => first - second);
  const nextTicks = new Map(sortedTicks.map((tick, index) => [tick, sortedTicks[index + 1]]));
  return changeSelected(notes, selection, (note) => {
    const nextTick = nextTicks.get(note.tick);
    const lengthTicks = nextTick === undefined ? note.length_ticks : nextTick - note.tick;
    return lengthTicks === note.length_ticks ? note : { ...note, length_ticks: lengthTicks };
  });
}

/** Returns a pseudo-random number in -1..1 for a note: a hash of the seed and the note's index. */
function randomOf(seed: number, index: number, purpose: number): number {
  // The finalizer of MurmurHash3, which spreads successive numbers over all 32 bits.
  let bits = (seed ^ Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca6b)) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 0x7fffffff - 1;
}

/** Changes the starts and the velocities of notes by random amounts within the given limits. */
export function humanizeNotes(notes: readonly Note[], selection: NoteSelection, { timingTicks, velocity, seed }: HumanizeOptions): NotesEdit {
  return changeSelected(notes, selection, (note, index) => ({
    ...note,
    tick: Math.min(TICK_MAX, Math.max(0, note.tick + Math.round(timingTicks * randomOf(seed, index, 1)))),
    velocity: Math.min(1, Math.max(VELOCITY_MIN, note.velocity + velocity * randomOf(seed, index, 2))),
  }));
}
