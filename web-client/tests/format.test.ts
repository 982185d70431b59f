import { describe, expect, it } from 'vitest';

import * as format from '../src/project/format';
import { secsAtTick, tickAtSecs } from '../src/project/tempo';
import { dbAtPosition, positionOfDb } from '../src/ui/fader-scale';

describe('formatted numbers', () => {
  it.each([
    [0, '00:00.000'],
    [38.2149, '00:38.214'],
    [3599.9999, '59:59.999'],
    [6000, '100:00.000'],
  ])('%d seconds are %s', (secs, text) => {
    expect(format.formatTime(secs)).toBe(text);
  });

  it.each([
    [0, '0.0'],
    [-0.04, '0.0'],
    [-3, '\u22123.0'],
    [1.46, '+1.5'],
    [-60, '\u221260.0'],
    [-143.9, '\u2212143.9'],
    [-144, '\u2212\u221e'],
  ])('%d dB are %s', (db, text) => {
    expect(format.formatDb(db)).toBe(text);
  });

  it.each([
    [-14.24, '\u221214.2'],
    [-0.04, '0.0'],
    [1.26, '1.3'],
    [-164.4, '\u2212\u221e'],
    [-Infinity, '\u2212\u221e'],
  ])('a level of %d is %s', (level, text) => {
    expect(format.formatLevel(level)).toBe(text);
  });

  it('have the same value when the formatted text is parsed', () => {
    expect(format.parseNumber(format.formatDb(-12.3))).toBe(-12.3);
    expect(format.parseNumber(format.formatDb(-144))).toBe(-Infinity);
    expect(format.parsePan(format.formatPan(-0.3))).toBe(-0.3);
    expect(format.parsePan(format.formatPan(0))).toBe(0);
    expect(format.parsePan('R100')).toBe(1);
    expect(format.parseTime(format.formatTime(83.5))).toBe(83.5);
    expect(format.parseBarPosition(format.formatBarPosition({ bar: 17, beat: 3, tick: 40 }))).toEqual({ bar: 17, beat: 3, tick: 40 });
  });

  it('are null if the text cannot be parsed', () => {
    expect(format.parseNumber('loud')).toBeNull();
    expect(format.parsePan('middle')).toBeNull();
    expect(format.parseTime('a:b')).toBeNull();
    expect(format.parseBarPosition('0.1')).toBeNull();
  });

  it('can be keys, sizes, past times and hashes', () => {
    expect([0, 60, 61, 127].map(format.keyName)).toEqual(['C-1', 'C4', 'C♯4', 'G9']);
    expect([999, 1500, 148_398_306].map(format.formatBytes)).toEqual(['999 B', '1.5 kB', '148 MB']);
    expect(format.formatAgo(0, 1000)).toBe('just now');
    expect(format.formatAgo(0, 65_000)).toBe('1 min ago');
    expect(format.shortHash('9f2c00000071')).toBe('9f2c\u202671');
  });
});

describe('tempo', () => {
  const MAP = [
    { tick: 0, bpm: 120 },
    { tick: 1920, bpm: 60 },
  ];
  it.each([
    [0, 0],
    [960, 0.5],
    [1920, 1],
    [2880, 2],
  ])('tick %i is at %d s', (tick, secs) => {
    expect(secsAtTick(MAP, tick)).toBeCloseTo(secs, 12);
    expect(tickAtSecs(MAP, secs)).toBeCloseTo(tick, 9);
  });
});

describe('fader', () => {
  it('ranges from silence to its top, with 0 dB at four fifths', () => {
    expect([-60, 0, 6].map(positionOfDb)).toEqual([0, 0.8, 1]);
    expect(positionOfDb(-144)).toBe(0);
  });

  it('converts in both directions', () => {
    for (let position = 0; position <= 1; position += 0.05) expect(positionOfDb(dbAtPosition(position))).toBeCloseTo(position, 9);
  });
});
