import { describe, expect, it } from 'vitest';
import { lanesOf, valueAtTick } from '../src/project/automation';
import { MASTER_ID } from '../src/project/model';
import { emptyProject } from '../src/project/normalize';
import { setLane, withWrittenValues } from '../src/project/write-automation';

const { tempo_map: tempoMap } = emptyProject();
const smooth = { isStepped: false };

describe('writing automation', () => {
  it('starts a lane with the value of the control, and keeps the last value', () => {
    const points = withWrittenValues([], tempoMap, [{ tick: 100, value: 0.4 }, { tick: 200, value: 0.9 }], 0.2, smooth);
    expect(points.map(({ tick, value }) => [tick, value])).toEqual([[0, 0.2], [99, 0.2], [100, 0.4], [200, 0.9]]);
  });

  it('keeps the curve before and after the written values', () => {
    const before = [{ tick: 0, value: 0, curve: 'linear' as const }, { tick: 150, value: 0.5, curve: 'linear' as const }, { tick: 1000, value: 1, curve: 'linear' as const }];
    const points = withWrittenValues(before, tempoMap, [{ tick: 100, value: 0.7 }, { tick: 200, value: 0.1 }], 0, smooth);
    for (const tick of [0, 50, 99, 201, 600, 1000]) {
      expect(valueAtTick(points, tempoMap, tick), String(tick)).toBeCloseTo(valueAtTick(before, tempoMap, tick) ?? NaN, 6);
    }
    expect(valueAtTick(points, tempoMap, 100)).toBe(0.7);
    expect(valueAtTick(points, tempoMap, 200)).toBe(0.1);
    expect(points.some(({ tick }) => tick === 150)).toBe(false);
    expect(points.map(({ tick }) => tick)).toEqual(points.map(({ tick }) => tick).toSorted((a, b) => a - b));
  });

  it('leaves out values on a straight line, and steps that change nothing', () => {
    const line = [0, 1, 2, 3, 4].map((index) => ({ tick: 10 * index, value: 0.1 * index }));
    expect(withWrittenValues([], tempoMap, line, 0, smooth).map(({ tick }) => tick)).toEqual([0, 40]);
    const steps = [0, 0, 1, 1, 1].map((value, index) => ({ tick: 10 * index, value }));
    expect(withWrittenValues([], tempoMap, steps, 0, { isStepped: true })).toMatchObject([{ tick: 0, curve: 'step' }, { tick: 20 }, { tick: 40 }]);
  });

  it('adds the lane, or replaces its points', () => {
    const project = setLane(emptyProject(), MASTER_ID, 'volume_db', [{ tick: 0, value: -3 }]);
    expect(lanesOf(setLane(project, MASTER_ID, 'volume_db', [{ tick: 5, value: -1 }]), MASTER_ID)).toEqual([{ target: 'volume_db', points: [{ tick: 5, value: -1 }] }]);
  });
});
