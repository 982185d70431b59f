import { describe, expect, it } from 'vitest';

import {
  addEffect,
  builtInEffect,
  duplicateEffect,
  effectsOf,
  moveEffect,
  removeEffect,
  resetEffect,
  setEffectBypass,
  setEffectParameter,
  setImpulse,
  setSideChain,
} from '../src/project/edit-effects';
import { duplicateTrack } from '../src/project/edit-tracks';
import { formatValue, parseValue } from '../src/project/effect-format';
import { inSentence, nameInSection, originOf, positionOfValue, sectionsOf, storedValue, valueAtPosition, type EffectKind, type EffectParameter } from '../src/project/effect-kinds';
import { MASTER_ID, type Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';
import { dropIndex } from '../src/rooms/effects/chain-drag';

function parameter(change: Partial<EffectParameter>): EffectParameter {
  return { id: 'x', name: 'X', unit: 'number', min: 0, max: 1, default: 0, scale: 'linear', choices: [], ...change };
}

const FREQUENCY = parameter({ unit: 'hertz', min: 20, max: 20000, default: 1000, scale: 'logarithmic' });
const GAIN = parameter({ unit: 'decibels', min: -144, max: 36 });
const THRESHOLD = parameter({ unit: 'decibels', min: -60, max: 0, default: -18 });
const MIX = parameter({ unit: 'share', default: 0.5 });
const SYNC = parameter({ unit: 'beats', min: 0.0625, max: 8, scale: 'logarithmic' });
const DECAY = parameter({ unit: 'seconds', min: 0.1, max: 20, scale: 'logarithmic' });
const TIME = parameter({ unit: 'milliseconds', min: 0.1, max: 5000, scale: 'logarithmic' });
const MODE = parameter({ scale: 'choice', max: 2, choices: ['Low', 'Band', 'High'] });
const BALANCE = parameter({ id: 'balance', min: -1 });

const KIND: EffectKind = { id: 'utility', name: 'Utility', group: 'utility', has_side_chain: false, impulse_max_secs: null, parameters: [GAIN] };

describe('values on knobs', () => {
  it.each([
    [FREQUENCY, 20, 0],
    [FREQUENCY, 20000, 1],
    [FREQUENCY, Math.sqrt(20 * 20000), 0.5],
    [GAIN, -144, 0],
    [GAIN, -12, 0.5],
    [GAIN, 36, 1],
    [MIX, 0.25, 0.25],
  ])('%# have positions on the scale of their parameter', (tested, value, position) => {
    expect(positionOfValue(tested, value)).toBeCloseTo(position, 9);
    expect(Math.abs(valueAtPosition(tested, position) - value)).toBeLessThanOrEqual(Math.abs(value) * 0.005);
  });

  it('reach both ends of the range', () => {
    for (const tested of [FREQUENCY, GAIN, THRESHOLD, MIX, SYNC, TIME]) {
      expect([valueAtPosition(tested, 0), valueAtPosition(tested, 1)]).toEqual([tested.min, tested.max]);
    }
  });

  it('have arcs that start at zero if the range has both signs', () => {
    expect(originOf(BALANCE)).toBe(0.5);
    expect(originOf(GAIN)).toBe(0);
    expect(originOf(THRESHOLD)).toBe(0);
  });

  it('are read from stored names, switches and numbers', () => {
    expect(storedValue(MODE, 'Band')).toBe(1);
    expect(storedValue(MODE, 'Nothing')).toBe(0);
    expect(storedValue(MODE, 7)).toBe(2);
    expect(storedValue(parameter({ scale: 'switch' }), true)).toBe(1);
    expect(storedValue(THRESHOLD, undefined)).toBe(-18);
    expect(storedValue(THRESHOLD, 12)).toBe(0);
  });
});

describe('parameters of a kind', () => {
  const named = (id: string, name: string, change: Partial<EffectParameter> = {}): EffectParameter => parameter({ id, name, ...change });
  const toggle = (id: string, name: string): EffectParameter => named(id, name, { scale: 'switch' });

  it('are grouped in sections with the switch of their band', () => {
    const sections = sectionsOf({
      ...KIND,
      parameters: [
        named('input_db', 'Input'),
        toggle('low_cut_on', 'Low cut'),
        named('low_cut_frequency_hz', 'Low cut frequency'),
        named('low_cut_q', 'Low cut Q'),
        toggle('bell_1_on', 'Bell 1'),
        named('bell_1_gain_db', 'Bell 1 gain'),
        named('output_db', 'Output'),
        toggle('soft', 'Soft'),
      ],
    });
    expect(sections.map((section) => [section.toggle?.name ?? null, section.parameters.map((parameter) => nameInSection(section, parameter))])).toEqual([
      [null, ['Input']],
      ['Low cut', ['Frequency', 'Q']],
      ['Bell 1', ['Gain']],
      [null, ['Output', 'Soft']],
    ]);
  });

  it.each([
    ['Cut-off', 'cut-off'],
    ['Bell 1 Q', 'bell 1 Q'],
    ['LFO rate', 'LFO rate'],
    ['Q', 'Q'],
  ])('are written within a sentence: %s as %s', (name, text) => {
    expect(inSentence({ name })).toBe(text);
  });

  it('without switches are in one section', () => {
    expect(sectionsOf({ ...KIND, parameters: [GAIN, MIX] })).toHaveLength(1);
  });
});

describe('values as text', () => {
  it.each([
    [FREQUENCY, 440, '440 Hz'],
    [FREQUENCY, 1250, '1.25 kHz'],
    [FREQUENCY, 12000, '12.0 kHz'],
    [GAIN, -144, '−∞'],
    [GAIN, -3, '−3.0 dB'],
    [GAIN, 1.5, '+1.5 dB'],
    [GAIN, -0.04, '0.0 dB'],
    [THRESHOLD, -60, '−60.0 dB'],
    [THRESHOLD, 0, '0.0 dB'],
    [MIX, 0.35, '35 %'],
    [TIME, 12.34, '12.3 ms'],
    [TIME, 1500, '1.50 s'],
    [DECAY, 1.8, '1.80 s'],
    [SYNC, 1, '1/4'],
    [SYNC, 0.75, '1/8 D'],
    [SYNC, 1 / 3, '1/8 T'],
    [SYNC, 8, '2 bars'],
    [parameter({ unit: 'ratio' }), 4, '4:1'],
    [parameter({ unit: 'degrees' }), 90, '90°'],
    [parameter({ unit: 'octaves', min: -6, max: 6 }), -1.5, '−1.5 oct'],
    [MODE, 2, 'High'],
    [BALANCE, -0.3, 'L30'],
  ])('%# are written with their unit: %s', (tested, value, text) => {
    expect(formatValue(tested, value)).toBe(text);
  });

  it.each([
    [FREQUENCY, '1.2k', 1200],
    [FREQUENCY, '1,2 kHz', 1200],
    [FREQUENCY, '440', 440],
    [GAIN, '−3.0 dB', -3],
    [GAIN, '-inf', -Infinity],
    [MIX, '35 %', 0.35],
    [MIX, '35', 0.35],
    [TIME, '1.5 s', 1500],
    [TIME, '20 ms', 20],
    [DECAY, '1.80 s', 1.8],
    [DECAY, '250 ms', 0.25],
    [SYNC, '1/8 D', 0.75],
    [SYNC, '1/16', 0.25],
    [SYNC, '1/12', 1 / 3],
    [MODE, 'high', 2],
    [BALANCE, 'R50', 0.5],
    [FREQUENCY, 'loud', null],
  ])('%# are read: %s', (tested, text, value) => {
    const parsed = parseValue(tested, text as string);
    if (value === null || !Number.isFinite(value)) expect(parsed).toBe(value);
    else expect(parsed).toBeCloseTo(value as number, 9);
  });

  it('have about the same value when the formatted text is parsed', () => {
    for (const tested of [FREQUENCY, GAIN, THRESHOLD, MIX, SYNC, TIME, BALANCE]) {
      for (const position of [0.1, 0.37, 0.5, 0.93]) {
        const value = valueAtPosition(tested, position);
        const parsed = parseValue(tested, formatValue(tested, value)) ?? NaN;
        expect(Math.abs(parsed - value), formatValue(tested, value)).toBeLessThanOrEqual(Math.max(Math.abs(value) * 0.02, 0.06));
      }
    }
  });
});

function song(): Project {
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    tracks: [
      {
        id: 'a',
        kind: 'instrument',
        effects: [
          { id: 'one', type: 'builtin', name: 'utility' },
          { id: 'two', type: 'builtin', name: 'utility', params: { gain_db: -6 }, later: 'kept' },
        ],
        automation: [
          { target: 'volume_db', points: [] },
          { target: 'two/gain_db', points: [] },
        ],
      },
    ],
  });
}

const ids = (project: Project, channelId = 'a'): string[] => effectsOf(project, channelId).map((effect) => effect.id);
const lanes = (project: Project): string[] => (project.tracks[0]?.automation ?? []).map((lane) => lane.target);

describe('effect chains', () => {
  it('insert effects at their end or at an index', () => {
    const { project, effectId } = addEffect(song(), 'a', builtInEffect(KIND));
    expect(ids(project)).toEqual(['one', 'two', effectId]);
    const first = addEffect(song(), 'a', builtInEffect(KIND), 0);
    expect(ids(first.project)).toEqual([first.effectId, 'one', 'two']);
    const master = addEffect(song(), MASTER_ID, builtInEffect(KIND));
    expect(master.project.master.effects).toEqual([{ id: master.effectId, type: 'builtin', name: 'utility', params: {} }]);
  });

  it('remove an effect with its automation', () => {
    const project = removeEffect(song(), 'a', 'two');
    expect(ids(project)).toEqual(['one']);
    expect(lanes(project)).toEqual(['volume_db']);
    const unchangedSong = song();
    expect(removeEffect(unchangedSong, 'a', 'none')).toBe(unchangedSong);
  });

  it('move an effect, at most to either end', () => {
    expect(ids(moveEffect(song(), 'a', 'two', 0))).toEqual(['two', 'one']);
    expect(ids(moveEffect(song(), 'a', 'one', 9))).toEqual(['two', 'one']);
    const project = song();
    expect(moveEffect(project, 'a', 'one', -1)).toBe(project);
  });

  it('keep unknown fields of an effect', () => {
    let project = setEffectParameter(song(), 'a', 'two', 'balance', 0.5);
    project = setEffectBypass(project, 'a', 'two', true);
    expect(effectsOf(project, 'a')[1]).toEqual({
      id: 'two',
      type: 'builtin',
      name: 'utility',
      params: { gain_db: -6, balance: 0.5 },
      bypass: true,
      later: 'kept',
    });
    expect(effectsOf(resetEffect(project, 'a', 'two'), 'a')[1]?.params).toEqual({});
    const withSideChain = setSideChain(project, 'a', 'two', 'b');
    expect(effectsOf(withSideChain, 'a')[1]).toHaveProperty('side_chain', 'b');
    expect(effectsOf(setSideChain(withSideChain, 'a', 'two', null), 'a')[1]).not.toHaveProperty('side_chain');
  });

  it('set and remove an audio file as the impulse response', () => {
    const withFile = setImpulse(song(), 'a', 'two', 'file');
    expect(effectsOf(withFile, 'a')[1]).toMatchObject({ impulse: 'file', params: { gain_db: -6, response: 0 } });
    expect(effectsOf(setImpulse(withFile, 'a', 'two', null), 'a')[1]).not.toHaveProperty('impulse');
  });

  it('are copied with a track, and the copied automation names the copied effects', () => {
    const copy = duplicateTrack(song(), 'a');
    const [originalTrack, copiedTrack] = copy?.project.tracks ?? [];
    expect(originalTrack?.effects).toEqual(song().tracks[0]?.effects);
    const second = copiedTrack?.effects?.[1]?.id ?? '';
    expect(new Set([...ids(song()), ...(copiedTrack?.effects ?? []).map((effect) => effect.id)]).size).toBe(4);
    expect((copiedTrack?.automation ?? []).map((lane) => lane.target)).toEqual(['volume_db', `${second}/gain_db`]);
  });

  it('insert a copy after its original', () => {
    const copy = duplicateEffect(song(), 'a', 'one');
    expect(ids(copy?.project ?? song())).toEqual(['one', copy?.effectId, 'two']);
  });

  it('give a dropped panel the index that its position has among the other panels', () => {
    const spans = [
      { left: 0, right: 100 },
      { left: 110, right: 210 },
      { left: 220, right: 320 },
    ];
    expect(dropIndex(spans, 0, 30)).toBe(0);
    expect(dropIndex(spans, 0, 170)).toBe(1);
    expect(dropIndex(spans, 0, 300)).toBe(2);
    expect(dropIndex(spans, 2, 20)).toBe(0);
  });
});

describe('a track without effects', () => {
  it('has an empty chain', () => {
    expect(effectsOf(updateTrack(song(), 'a', ({ effects: _gone, ...track }) => track), 'a')).toEqual([]);
    expect(effectsOf(song(), 'nobody')).toEqual([]);
  });
});
