import { describe, expect, it } from 'vitest';

import { drawLine, formatControlValue, lanesWithPoints, moveControlPoint, nameOfLane, pointsOfLane, replacePoints, valueOfLaneAt, type ControlLane } from '../src/project/control-lanes';
import { drumName } from '../src/project/drum-names';
import type { Control } from '../src/project/model';
import { chordName, isInScale } from '../src/project/scales';

const MODULATION: ControlLane = { kind: 'cc', controller: 1 };
const SUSTAIN: ControlLane = { kind: 'cc', controller: 64 };
const BEND: ControlLane = { kind: 'bend' };
const CONTROLS: Control[] = [
  { type: 'program', tick: 0, program: 5 },
  { type: 'cc', tick: 0, controller: 1, value: 10 },
  { type: 'cc', tick: 100, controller: 7, value: 90 },
  { type: 'bend', tick: 120, value: -8192 },
  { type: 'cc', tick: 480, controller: 1, value: 64 },
];

describe('controller lanes', () => {
  it('have the points of one controller, and its value at any tick', () => {
    const points = pointsOfLane(CONTROLS, MODULATION);
    expect(points).toEqual([{ tick: 0, value: 10 }, { tick: 480, value: 64 }]);
    expect([0, 479, 480, 9999].map((tick) => valueOfLaneAt(points, MODULATION, tick))).toEqual([10, 10, 64, 64]);
    expect(valueOfLaneAt([], { kind: 'cc', controller: 7 }, 0), 'volume before its first point').toBe(100);
    expect(lanesWithPoints(CONTROLS)).toEqual([MODULATION, { kind: 'cc', controller: 7 }, BEND]);
  });

  it('are drawn as lines that replace the points beneath, in both directions, and nothing else', () => {
    const drawnControls = drawLine(CONTROLS, MODULATION, { tick: 600, value: 60 }, { tick: 360, value: 0 }, 120);
    expect(pointsOfLane(drawnControls, MODULATION)).toEqual([{ tick: 0, value: 10 }, { tick: 360, value: 0 }, { tick: 480, value: 30 }, { tick: 600, value: 60 }]);
    expect(drawnControls.filter((control) => control.type !== 'cc' || control.controller !== 1)).toEqual(CONTROLS.filter((control) => control.type !== 'cc' || control.controller !== 1));
    expect(drawnControls.map((control) => control.tick)).toEqual(drawnControls.map((control) => control.tick).sort((a, b) => a - b));
  });

  it('keep values in range: pedals are off or on, and a bend ends at 8191', () => {
    expect(pointsOfLane(drawLine([], SUSTAIN, { tick: 0, value: 90 }, { tick: 0, value: 90 }, 1), SUSTAIN)).toEqual([{ tick: 0, value: 127 }]);
    expect(pointsOfLane(drawLine([], BEND, { tick: 0, value: 9999 }, { tick: 0, value: 9999 }, 1), BEND)).toEqual([{ tick: 0, value: 8191 }]);
  });

  it('move a point between its neighbours, and delete points', () => {
    const movedPoint = moveControlPoint(CONTROLS, MODULATION, 0, 5000, 200);
    expect(pointsOfLane(movedPoint, MODULATION)).toEqual([{ tick: 479, value: 127 }, { tick: 480, value: 64 }]);
    expect(pointsOfLane(replacePoints(CONTROLS, MODULATION, [0, 479], []), MODULATION)).toEqual([{ tick: 480, value: 64 }]);
  });

  it('have names and readable values', () => {
    expect([MODULATION, SUSTAIN, BEND, { kind: 'cc', controller: 3 } as const].map(nameOfLane)).toEqual(['CC 1 Modulation', 'CC 64 Sustain pedal', 'Pitch bend', 'CC 3']);
    expect([formatControlValue(SUSTAIN, 127), formatControlValue(BEND, -4096), formatControlValue(MODULATION, 3)]).toEqual(['on', '\u221250 %', '3']);
  });
});

describe('names of keys', () => {
  it('are those of General MIDI for drums', () => {
    expect([26, 27, 35, 36, 38, 42, 49, 56, 81, 87, 88].map(drumName)).toEqual([null, 'High Q', 'Kick 2', 'Kick 1', 'Snare 1', 'Closed hi-hat', 'Crash 1', 'Cowbell', 'Open triangle', 'Open surdo', null]);
  });

  it('form chords, also inverted and over several octaves', () => {
    const cases = [[60, 64, 67], [64, 67, 72], [57, 60, 64, 67], [60, 63, 66, 69], [62, 65, 69, 84], [48, 55, 64, 76], [60], [60, 61, 62]];
    expect(cases.map(chordName)).toEqual(['C', 'C/E', 'Am7', 'Cdim7', 'Dm7', 'C', null, null]);
  });

  it('belong to scales of any root', () => {
    const aMinor = { root: 9, scaleId: 'minor' };
    expect([57, 58, 60, 61].map((key) => isInScale(aMinor, key))).toEqual([true, false, true, false]);
    expect(isInScale({ root: 0, scaleId: null }, 60)).toBeNull();
  });
});
