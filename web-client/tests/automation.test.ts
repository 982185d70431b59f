import { describe, expect, it } from 'vitest';

import {
  addLane,
  curvatureThrough,
  insertPoint,
  lanesOf,
  movePoint,
  removeLane,
  setPoints,
  progressAt,
  valueAtTick,
} from '../src/project/automation';
import { targetsOf } from '../src/project/automation-targets';
import { removeEffect } from '../src/project/edit-effects';
import type { EffectKind } from '../src/project/effect-kinds';
import { MASTER_ID, type AutomationPoint, type Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';

const KIND: EffectKind = {
  id: 'filter',
  name: 'Filter',
  group: 'tone',
  has_side_chain: false,
  impulse_max_secs: null,
  parameters: [
    { id: 'frequency_hz', name: 'Frequency', unit: 'hertz', min: 20, max: 20000, default: 1000, scale: 'logarithmic', choices: [] },
    { id: 'mode', name: 'Mode', unit: 'number', min: 0, max: 1, default: 0, scale: 'choice', choices: ['Low', 'High'] },
  ],
};

function song(): Project {
  const filter = (id: string) => ({ id, type: 'builtin', name: 'filter', params: { frequency_hz: 500 } });
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    tracks: [
      { id: 'a', kind: 'instrument', volume_db: -3, sends: [{ to: 'r', level_db: -9 }], effects: [filter('one'), filter('two')] },
      { id: 'r', kind: 'bus', name: 'Room' },
    ],
    master: { effects: [filter('three')] },
  });
}

const TEMPO = [{ tick: 0, bpm: 120 }];
const POINTS: AutomationPoint[] = [
  { tick: 0, value: 0, curve: 'linear' },
  { tick: 1000, value: 10, curve: 'step' },
  { tick: 2000, value: 20, curve: 0.5 },
  { tick: 3000, value: 0 },
];

describe('an automation curve', () => {
  it.each([
    [-1, 0],
    [0, 0],
    [250, 2.5],
    [1000, 10],
    [1999, 10],
    [2000, 20],
    // In the middle of a segment of curvature c, the progress is (1 - c) / 2.
    [2500, 15],
    [3000, 0],
    [9000, 0],
  ])('at tick %i has the value %f', (tick, value) => {
    expect(valueAtTick(POINTS, TEMPO, tick)).toBeCloseTo(value, 9);
  });

  it('is a function of seconds across tempo changes', () => {
    const points = [
      { tick: 0, value: 0 },
      { tick: 3840, value: -60 },
    ];
    const tempoMap = [
      { tick: 0, bpm: 60 },
      { tick: 1920, bpm: 240 },
    ];
    expect(valueAtTick(points, tempoMap, 960)).toBeCloseTo(-24, 9);
    expect(valueAtTick(points, tempoMap, 1920)).toBeCloseTo(-48, 9);
    expect(valueAtTick(points, tempoMap, 2880)).toBeCloseTo(-54, 9);
  });

  it('has no value without points', () => {
    expect(valueAtTick([], TEMPO, 100)).toBeNull();
  });

  it('has the values of both points for every curvature', () => {
    for (const curve of [undefined, 'linear', -1, -0.5, 0.9, 1] as const) {
      expect([progressAt(curve, 0), progressAt(curve, 1)]).toEqual([0, 1]);
    }
  });

  it('can be bent through a point', () => {
    for (const [time, progress] of [
      [0.5, 0.2],
      [0.2, 0.7],
      [0.8, 0.4],
    ] as const) {
      expect(progressAt(curvatureThrough(time, progress), time)).toBeCloseTo(progress, 2);
    }
    expect(curvatureThrough(0.5, -4)).toBe(0.98);
    expect(curvatureThrough(0.5, 4)).toBe(-0.98);
  });
});

describe('points', () => {
  it('are sorted by tick, with at most one point at each tick', () => {
    const addedPoint = insertPoint(POINTS, { tick: 1500, value: 1 });
    expect([addedPoint.index, addedPoint.points.map((point) => point.tick)]).toEqual([2, [0, 1000, 1500, 2000, 3000]]);
    const replacedPoint = insertPoint(POINTS, { tick: 1000, value: 1 });
    expect([replacedPoint.index, replacedPoint.points.length, replacedPoint.points[1]?.value]).toEqual([1, 4, 1]);
  });

  it('stay between their neighbours', () => {
    expect(movePoint(POINTS, 1, 5000, 3)[1]).toEqual({ tick: 1999, value: 3, curve: 'step' });
    expect(movePoint(POINTS, 1, -5, 3)[1]?.tick).toBe(1);
    expect(movePoint(POINTS, 3, 1e12, 3)[3]?.tick).toBe(1_000_000_000);
  });
});

describe('lanes', () => {
  it('are added once for each target, changed and removed, on tracks and on the master', () => {
    for (const channelId of ['a', MASTER_ID]) {
      const addedPoint = addLane(song(), channelId, 'volume_db', -3);
      expect(addLane(addedPoint, channelId, 'volume_db', 0)).toBe(addedPoint);
      expect(lanesOf(addedPoint, channelId)).toEqual([{ target: 'volume_db', points: [{ tick: 0, value: -3, curve: 'linear' }] }]);
      expect(lanesOf(setPoints(addedPoint, channelId, 'volume_db', POINTS), channelId)[0]?.points).toEqual(POINTS);
      expect(lanesOf(removeLane(addedPoint, channelId, 'volume_db'), channelId)).toEqual([]);
    }
  });

  it('are removed with their effect', () => {
    const automatedSong = addLane(song(), MASTER_ID, 'three/frequency_hz', 500);
    expect(lanesOf(removeEffect(automatedSong, MASTER_ID, 'three'), MASTER_ID)).toEqual([]);
  });
});

describe('automation targets', () => {
  const descriptionsOf = (channelId: string): string[] => targetsOf(song(), channelId, () => KIND, () => null).map((target) => `${target.group}: ${target.name} = ${target.format(target.current)}`);

  it('are the channel, its sends and its effects', () => {
    expect(descriptionsOf('a')).toEqual([
      'Channel: Volume = −3.0 dB',
      'Channel: Pan = C',
      'Sends: Room = −9.0 dB',
      'Filter: Frequency = 500 Hz',
      'Filter: Mode = Low',
      'Filter 2: Frequency = 500 Hz',
      'Filter 2: Mode = Low',
    ]);
    expect(descriptionsOf(MASTER_ID)).toEqual(['Master: Volume = 0.0 dB', 'Filter: Frequency = 500 Hz', 'Filter: Mode = Low']);
    expect(targetsOf(song(), 'a', () => null, () => null).map((target) => target.target)).toEqual(['volume_db', 'pan', 'send/r']);
  });

  it('have the scale of their control', () => {
    for (const target of targetsOf(song(), 'a', () => KIND, () => null)) {
      expect(target.valueAt(0)).toBe(target.min);
      expect(target.valueAt(1)).toBe(target.max);
      expect(target.positionOf(target.valueAt(0.4))).toBeCloseTo(target.isStepped ? 0 : 0.4, 2);
    }
  });
});
