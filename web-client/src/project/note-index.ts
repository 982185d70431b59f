/**
 * An index of notes by time. Drawing and the search for the note under the pointer use it, so they
 * need not visit all notes of a long item.
 */
import { TICKS_PER_QUARTER, type Note } from './model';

/** Ticks of one bucket of the index: a bar of 4/4. */
const BUCKET_TICKS = TICKS_PER_QUARTER * 4;
/** Longest note, in buckets, that is found by its start. Longer notes are in a separate list. */
const LONG_BUCKETS = 4;

export class NoteIndex {
  readonly #notes: readonly Note[];
  /** Indices of the notes that start in each bucket, in ascending order. */
  readonly #buckets = new Map<number, number[]>();
  readonly #longNotes: number[] = [];
  #lastBucket = 0;

  constructor(notes: readonly Note[]) {
    this.#notes = notes;
    notes.forEach((note, index) => {
      if (note.length_ticks > LONG_BUCKETS * BUCKET_TICKS) {
        this.#longNotes.push(index);
        return;
      }
      const bucket = Math.floor(note.tick / BUCKET_TICKS);
      const indices = this.#buckets.get(bucket);
      if (indices) indices.push(index);
      else this.#buckets.set(bucket, [index]);
      this.#lastBucket = Math.max(this.#lastBucket, bucket);
    });
  }

  /**
   * Returns the indices of the notes that sound in a range, in ascending order. The ticks count
   * from the start of the item; notes that end at `fromTick` or start at `toTick` are included.
   */
  between(fromTick: number, toTick: number): number[] {
    const overlaps = (index: number): boolean => {
      const note = this.#notes[index] as Note;
      return note.tick <= toTick && note.tick + note.length_ticks >= fromTick;
    };
    const overlappingNotes = this.#longNotes.filter(overlaps);
    const firstBucket = Math.max(0, Math.floor(fromTick / BUCKET_TICKS) - LONG_BUCKETS);
    const lastBucket = Math.min(this.#lastBucket, Math.floor(toTick / BUCKET_TICKS));
    for (let bucket = firstBucket; bucket <= lastBucket; bucket++) {
      for (const index of this.#buckets.get(bucket) ?? []) if (overlaps(index)) overlappingNotes.push(index);
    }
    return overlappingNotes.sort((first, second) => first - second);
  }
}

const indices = new WeakMap<readonly Note[], NoteIndex>();

/** Returns the index of an array of notes, which is made once for each array. */
export function indexOfNotes(notes: readonly Note[]): NoteIndex {
  let index = indices.get(notes);
  if (!index) {
    index = new NoteIndex(notes);
    indices.set(notes, index);
  }
  return index;
}

/**
 * Returns the notes in the order of the song: by tick, then by pitch. The result are indices, for
 * moving from note to note.
 */
export function notesInOrder(notes: readonly Note[]): number[] {
  const byTime = (first: number, second: number): number => {
    const a = notes[first] as Note;
    const b = notes[second] as Note;
    return a.tick - b.tick || a.pitch - b.pitch || first - second;
  };
  return notes.map((_, index) => index).sort(byTime);
}
