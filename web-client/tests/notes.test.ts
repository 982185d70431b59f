import { describe, expect, it } from 'vitest';

import { addNotes, changeVelocity, duplicateNotes, moveNotes, removeNotes, resizeNotes, setVelocity } from '../src/project/edit-notes';
import { copyNotes, pasteNotes } from '../src/project/note-clipboard';
import { indexOfNotes, notesInOrder } from '../src/project/note-index';
import { humanizeNotes, legatoNotes, quantizeNotes, type QuantizeOptions } from '../src/project/shape-notes';
import type { Note } from '../src/project/model';

const note = (tick: number, pitch = 60, length_ticks = 240, velocity = 0.5): Note => ({ tick, length_ticks, pitch, velocity });
const NOTES = [note(100, 60), note(500, 64), note(1000, 126)];

describe('moving notes', () => {
  it('moves only the selected notes', () => {
    const { notes } = moveNotes(NOTES, new Set([1]), 20, -4);
    expect(notes).toEqual([NOTES[0], note(520, 60), NOTES[2]]);
  });

  it('stops all selected notes when one reaches the start of the item or the highest key', () => {
    const { notes } = moveNotes(NOTES, new Set([0, 2]), -400, 12);
    expect(notes.map((movedNote) => [movedNote.tick, movedNote.pitch])).toEqual([
      [0, 61],
      [500, 64],
      [900, 127],
    ]);
  });

  it('does not change its arguments', () => {
    const notesBefore = structuredClone(NOTES);
    moveNotes(NOTES, new Set([0, 1, 2]), 10, 1);
    expect(NOTES).toEqual(notesBefore);
  });
});

describe('changing notes', () => {
  it('selects added notes', () => {
    expect(addNotes(NOTES, [note(0), note(1)]).selection).toEqual(new Set([3, 4]));
  });

  it('removes the selected notes, after which no note is selected', () => {
    expect(removeNotes(NOTES, new Set([0, 2]))).toEqual({ notes: [NOTES[1]], selection: new Set() });
  });

  it('shortens notes to the minimum, but does not lengthen notes that are shorter', () => {
    const { notes } = resizeNotes([note(0, 60, 480), note(0, 62, 30)], new Set([0, 1]), -1000, 60);
    expect(notes.map((changedNote) => changedNote.length_ticks)).toEqual([60, 30]);
  });

  it('keeps velocities between 1/127 and 1', () => {
    expect(setVelocity(NOTES, new Set([0]), 0).notes[0]?.velocity).toBeCloseTo(1 / 127);
    expect(setVelocity(NOTES, new Set([0]), 2).notes[0]?.velocity).toBe(1);
  });

  it('changes velocities together, each within its range', () => {
    const { notes } = changeVelocity([note(0, 60, 240, 0.5), note(0, 64, 240, 0.95)], new Set([0, 1]), 0.1);
    expect(notes.map((changedNote) => changedNote.velocity)).toEqual([0.6, 1]);
  });

  it('places duplicates after the selected notes, moved by whole grid steps', () => {
    const { notes, selection } = duplicateNotes([note(0), note(250)], new Set([0, 1]), 240);
    expect(notes.slice(2).map((copy) => copy.tick)).toEqual([720, 970]);
    expect(selection).toEqual(new Set([2, 3]));
  });
});

describe('quantizing', () => {
  const options = (change: Partial<QuantizeOptions> = {}): QuantizeOptions => ({ stepTicks: 240, strength: 1, swing: 0.5, ...change });
  const quantizedTicks = (ticks: number[], selection: Set<number>, itemStart: number, change: Partial<QuantizeOptions> = {}): number[] =>
    quantizeNotes(ticks.map((tick) => note(tick)), selection, itemStart, options(change)).notes.map((movedNote) => movedNote.tick);

  it('moves all notes if no note is selected, and otherwise only the selected ones', () => {
    expect(quantizedTicks([130, 250], new Set(), 0)).toEqual([240, 240]);
    expect(quantizedTicks([130, 250], new Set([1]), 0)).toEqual([130, 240]);
  });

  it('moves notes by the strength, on the grid of the song', () => {
    expect(quantizedTicks([140], new Set(), 0, { strength: 0.5 })).toEqual([190]);
    expect(quantizedTicks([130], new Set(), 100)).toEqual([140]);
  });

  it('delays every second step by the swing', () => {
    expect(quantizedTicks([10, 250, 470, 730], new Set(), 0, { swing: 2 / 3 })).toEqual([0, 320, 480, 800]);
  });

  it('changes nothing without a grid', () => {
    expect(quantizedTicks([131], new Set(), 0, { stepTicks: 0 })).toEqual([131]);
  });
});

describe('legato', () => {
  it('ends each note where the next one starts, and keeps the last notes', () => {
    const { notes } = legatoNotes([note(0, 60, 100), note(0, 64, 900), note(480, 67, 50), note(960, 60, 70)], new Set());
    expect(notes.map((changedNote) => changedNote.length_ticks)).toEqual([480, 480, 480, 70]);
  });

  it('looks only at the selected notes', () => {
    const { notes } = legatoNotes([note(0, 60, 100), note(240, 64, 100), note(960, 67, 100)], new Set([0, 2]));
    expect(notes.map((changedNote) => changedNote.length_ticks)).toEqual([960, 100, 100]);
  });
});

describe('humanizing', () => {
  const humanized = (seed: number): Note[] => humanizeNotes(Array.from({ length: 200 }, (_, index) => note(index * 240)), new Set(), { timingTicks: 20, velocity: 0.1, seed }).notes;

  it('gives the same notes for the same seed, and others for another', () => {
    expect(humanized(1)).toEqual(humanized(1));
    expect(humanized(1)).not.toEqual(humanized(2));
  });

  it('changes starts and velocities within the limits, to both sides', () => {
    const offsets = humanized(1).map((changedNote, index) => changedNote.tick - index * 240);
    const loudness = humanized(1).map((changedNote) => changedNote.velocity - 0.5);
    for (const [values, limit] of [[offsets, 20], [loudness, 0.1]] as const) {
      expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(limit + 1e-9);
      expect(Math.max(...values)).toBeGreaterThan(limit / 2);
      expect(Math.min(...values)).toBeLessThan(-limit / 2);
    }
  });
});

describe('copied notes', () => {
  it('keep their place between the grid steps, in another clip too', () => {
    const copiedNotes = copyNotes([note(70, 60), note(300, 64), note(999, 67)], new Set([0, 1]), 960, 240);
    expect(copiedNotes).toMatchObject({ offsetTicks: 70, lengthTicks: 720 });
    const { notes, selection } = pasteNotes([note(0, 40)], copiedNotes ?? { notes: [], offsetTicks: 0, lengthTicks: 0 }, 480);
    expect(notes.slice(1).map(({ tick, pitch }) => [tick, pitch])).toEqual([[550, 60], [780, 64]]);
    expect(selection).toEqual(new Set([1, 2]));
    expect(copyNotes(notes, new Set(), 0, 240)).toBeNull();
  });
});

describe('the index of notes', () => {
  it('finds the same notes as a search of all notes, also long ones', () => {
    const notes = Array.from({ length: 500 }, (_, index) => note((index * 7919) % 96_000, index % 128, index % 50 === 0 ? 40_000 : 120));
    for (const [from, to] of [[0, 10], [3839, 3841], [20_000, 24_000], [95_000, 200_000], [-500, -1]] as const) {
      const expected = notes.flatMap(({ tick, length_ticks: length }, index) => (tick <= to && tick + length >= from ? [index] : []));
      expect(indexOfNotes(notes).between(from, to)).toEqual(expected);
    }
  });

  it('orders notes by time, then by pitch', () => {
    expect(notesInOrder([note(480, 60), note(0, 67), note(0, 60)])).toEqual([2, 1, 0]);
  });
});
