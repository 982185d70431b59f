import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { emptyProject } from '../src/project/normalize';
import {
  changeSound,
  CHORUS_RANGES,
  POLYPHONY_RANGE,
  REVERB_RANGES,
  SOUND_DEFAULTS,
  soundSettings,
  voiceSettings,
  type Range,
} from '../src/project/sound-settings';

type Property = { default?: unknown; minimum?: number; maximum?: number };
const schema = JSON.parse(readFileSync(new URL('../../schemas/json/project.schema.json', import.meta.url), 'utf8')) as {
  $defs: Record<string, { properties: Record<string, Property> }>;
};
const properties = (name: string): Record<string, Property> => schema.$defs[name]?.properties ?? {};

describe('sound settings', () => {
  it('have the schema’s defaults and ranges', () => {
    const check = (name: string, defaults: Record<string, unknown>, ranges: Record<string, Range>): void => {
      expect(Object.keys(properties(name))).toEqual(Object.keys(defaults));
      for (const [field, property] of Object.entries(properties(name))) {
        expect([field, defaults[field]]).toEqual([field, property.default]);
        expect([field, ranges[field]]).toEqual([field, { min: property.minimum, max: property.maximum }]);
      }
    };
    check('ReverbSettings', SOUND_DEFAULTS.reverb, REVERB_RANGES);
    check('ChorusSettings', SOUND_DEFAULTS.chorus, CHORUS_RANGES);
    const { polyphony, interpolation, velocity_to_cutoff } = properties('Settings');
    expect(polyphony).toMatchObject({ default: SOUND_DEFAULTS.polyphony, minimum: POLYPHONY_RANGE.min, maximum: POLYPHONY_RANGE.max });
    expect(interpolation?.default).toBe(SOUND_DEFAULTS.interpolation);
    expect(velocity_to_cutoff?.default).toBe(SOUND_DEFAULTS.velocity_to_cutoff);
    expect(soundSettings(emptyProject())).toEqual(SOUND_DEFAULTS);
  });

  it('can be changed one by one, and unknown fields stay', () => {
    const songBefore = { ...emptyProject(), settings: { seed: 5, reverb: { room: 0.1, later: 1 } } };
    const narrow = changeSound(songBefore, { reverb: { width: 0 } });
    const songAfter = changeSound(narrow, { polyphony: 16, velocity_to_cutoff: 'specification' });
    expect(songAfter.settings).toEqual({ seed: 5, polyphony: 16, velocity_to_cutoff: 'specification', reverb: { room: 0.1, width: 0, later: 1 } });
    expect(soundSettings(songAfter).reverb).toMatchObject({ room: 0.1, damping: 0.5, width: 0 });
    expect(changeSound(songBefore, { chorus: { rate_hz: 2 } }).settings?.chorus).toEqual({ rate_hz: 2 });
  });

  it('of the shared reverb and chorus are not part of the settings of voices', () => {
    const project = changeSound(emptyProject(), { polyphony: 16, reverb: { room: 1 }, chorus: { rate_hz: 2 } });
    expect(voiceSettings(project)).toEqual({ polyphony: 16 });
    expect(voiceSettings(emptyProject())).toEqual({});
  });
});
