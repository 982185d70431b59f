import { describe, expect, it } from 'vitest';

import { duplicateNotes, moveNotes, quantizeNotes, removeNotes, resizeNotes, setVelocity, addNotes } from '../src/project/edit-notes';
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
    expect(notes.map((moved) => [moved.tick, moved.pitch])).toEqual([
      [0, 61],
      [500, 64],
      [900, 127],
    ]);
  });

  it('does not change its arguments', () => {
    const before = structuredClone(NOTES);
    moveNotes(NOTES, new Set([0, 1, 2]), 10, 1);
    expect(NOTES).toEqual(before);
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
    expect(notes.map((changed) => changed.length_ticks)).toEqual([60, 30]);
  });

  it('keeps velocities between 1/127 and 1', () => {
    expect(setVelocity(NOTES, new Set([0]), 0).notes[0]?.velocity).toBeCloseTo(1 / 127);
    expect(setVelocity(NOTES, new Set([0]), 2).notes[0]?.velocity).toBe(1);
  });

  it('places duplicates after the selected notes, moved by whole grid steps', () => {
    const { notes, selection } = duplicateNotes([note(0), note(250)], new Set([0, 1]), 240);
    expect(notes.slice(2).map((copy) => copy.tick)).toEqual([720, 970]);
    expect(selection).toEqual(new Set([2, 3]));
  });
});

describe('quantizing', () => {
  it('moves all notes if no note is selected', () => {
    expect(quantizeNotes([note(130), note(250)], new Set(), 0, 240, 1).notes.map((moved) => moved.tick)).toEqual([240, 240]);
  });

  it('moves notes by the fraction `strength` of the distance to the grid', () => {
    expect(quantizeNotes([note(140)], new Set(), 0, 240, 0.5).notes[0]?.tick).toBe(190);
  });

  it('uses positions in the song, not in the item', () => {
    expect(quantizeNotes([note(130)], new Set(), 100, 240, 1).notes[0]?.tick).toBe(140);
  });

  it('leaves unselected notes unchanged', () => {
    const notes = [note(130), note(130)];
    expect(quantizeNotes(notes, new Set([1]), 0, 240, 1).notes.map((moved) => moved.tick)).toEqual([130, 240]);
  });
});
