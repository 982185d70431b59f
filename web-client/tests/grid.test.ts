import { describe, expect, it } from 'vitest';

import { barPositionAt, gridLines, nextBarTick, snapTick, tickOfBarPosition } from '../src/project/grid';
import type { TimeSignature } from '../src/project/model';

const FOUR_FOUR: TimeSignature[] = [{ tick: 0, numerator: 4, denominator: 4 }];
/** Two bars of 4/4, then 6/8. */
const CHANGING: TimeSignature[] = [...FOUR_FOUR, { tick: 7680, numerator: 6, denominator: 8 }];

describe('bar positions', () => {
  it.each([
    [FOUR_FOUR, 0, { bar: 1, beat: 1, tick: 0 }],
    [FOUR_FOUR, 3839, { bar: 1, beat: 4, tick: 959 }],
    [FOUR_FOUR, 3840, { bar: 2, beat: 1, tick: 0 }],
    [CHANGING, 7680, { bar: 3, beat: 1, tick: 0 }],
    [CHANGING, 7680 + 2880, { bar: 4, beat: 1, tick: 0 }],
    [CHANGING, 7680 + 480 * 5 + 3, { bar: 3, beat: 6, tick: 3 }],
  ])('with the time signatures %j are converted from tick %i and back', (signatures, tick, position) => {
    expect(barPositionAt(signatures, tick)).toEqual(position);
    expect(tickOfBarPosition(signatures, position)).toBe(tick);
  });

  it('count a bar that is shortened by a change of time signature', () => {
    const shortenedBar: TimeSignature[] = [...FOUR_FOUR, { tick: 5000, numerator: 3, denominator: 4 }];
    expect(barPositionAt(shortenedBar, 5000)).toEqual({ bar: 3, beat: 1, tick: 0 });
  });
});

describe('grid lines', () => {
  it('are bars, beats and steps', () => {
    const lines = gridLines(FOUR_FOUR, 0, 1920, 480, 1);
    expect(lines.map((line) => [line.tick, line.level])).toEqual([
      [0, 'bar'],
      [480, 'step'],
      [960, 'beat'],
      [1440, 'step'],
    ]);
  });

  it('that are too close omit first steps, then beats, then bars', () => {
    expect(gridLines(FOUR_FOUR, 0, 7680, 480, 500).map((line) => line.tick)).toEqual([0, 960, 1920, 2880, 3840, 4800, 5760, 6720]);
    expect(gridLines(FOUR_FOUR, 0, 7680, 480, 2000).map((line) => line.tick)).toEqual([0, 3840]);
    expect(gridLines(FOUR_FOUR, 0, 38400, 0, 10000).map((line) => line.bar)).toEqual([1, 5, 9]);
  });

  it('start at the start of the view', () => {
    expect(gridLines(CHANGING, 7000, 11000, 0, 1).map((line) => [line.tick, line.bar])).toEqual([
      [7680, 3],
      [8160, 3],
      [8640, 3],
      [9120, 3],
      [9600, 3],
      [10080, 3],
      [10560, 4],
    ]);
  });
});

describe('snapping', () => {
  it.each([
    [119, 240, 'nearest', 0],
    [121, 240, 'nearest', 240],
    [239, 240, 'down', 0],
    [321, 320, 'nearest', 320],
    [-50, 240, 'nearest', 0],
    [123.4, 0, 'nearest', 123],
  ] as const)('moves tick %d with steps of %d and direction %s to %d', (tick, stepTicks, direction, expected) => {
    expect(snapTick(FOUR_FOUR, tick, stepTicks, direction)).toBe(expected);
  });

  it('counts steps from the start of the bar, even if the bar is not on the grid', () => {
    const offGridBar: TimeSignature[] = [...FOUR_FOUR, { tick: 100, numerator: 4, denominator: 4 }];
    expect(snapTick(offGridBar, 350, 240)).toBe(340);
  });

  it('finds the next start of a bar', () => {
    expect(nextBarTick(CHANGING, 7680)).toBe(7680);
    expect(nextBarTick(CHANGING, 7681)).toBe(7680 + 2880);
  });
});
