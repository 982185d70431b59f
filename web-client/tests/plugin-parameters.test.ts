/**
 * Tests of the parameters of plugins: their texts, their values in a song, and their automation.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import type { PluginParameter, PluginParameterList } from '../src/api/types';
import { targetsOf } from '../src/project/automation-targets';
import { resetEffect } from '../src/project/edit-effects';
import { pluginOf, removeInstrumentParameters, setInstrumentParameter, setInstrumentState } from '../src/project/plugin-instrument';
import { formatParameter, hasText, parseParameter, roundValue } from '../src/project/plugin-parameter-format';
import { otherVersionOf } from '../src/project/plugin-state';
import { MASTER_ID, type PluginEngine, type Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { Song } from '../src/state/editing/song.svelte';
import { PluginCommands } from '../src/state/editing/plugin-commands.svelte';
import { PluginCatalog } from '../src/state/library/plugin-catalog.svelte';
import { PluginParameters } from '../src/state/library/plugin-parameters.svelte';
import { Notices } from '../src/state/notices.svelte';

function parameter(fields: Partial<PluginParameter>): PluginParameter {
  return {
    id: 2, name: 'Cutoff', short_name: '', unit: 'Hz', value: 0.25, default: 0.25, text: '', step_count: 0,
    is_automatable: true, is_bypass: false, texts: [], ...fields,
  };
}

const CUTOFF = parameter({ texts: ['20.0', '100.0', '500.0'] });
const WAVE = parameter({ id: 3, name: 'Waveform', unit: '', step_count: 2, texts: ['Sine', 'Saw', 'Square'], value: 0 });
const MIX = parameter({ id: 4, name: 'Mix', unit: '%', texts: ['', '', ''] });

const LIST: PluginParameterList = {
  plugin_id: '444E656B', name: 'Nekobi', vendor: 'DISTRHO', version: '1.0', format: 'vst2', accepts_notes: true, has_side_chain: false, has_window: true, latency_secs: 0,
  tail: 'unknown', tail_secs: null, programs: ['Soft', 'Hard'], program: null, parameters: [CUTOFF, WAVE], value_texts: [], state: null,
};

describe('texts of values', () => {
  it('are those of the plugin, or interpolated between two of them', () => {
    expect(formatParameter(CUTOFF, 0)).toBe('20.0 Hz');
    expect(formatParameter(CUTOFF, 0.5)).toBe('100.0 Hz');
    expect(formatParameter(CUTOFF, 0.75)).toBe('≈ 300.0 Hz');
    expect(formatParameter(CUTOFF, 0.75, '310.5')).toBe('310.5 Hz');
    expect(formatParameter({ ...CUTOFF, text: '55.0' }, 0.25), 'the value of the list').toBe('55.0 Hz');
    expect(formatParameter({ ...CUTOFF, texts: ['Off', '0.5 Hz', '9 Hz'] }, 0.1)).toBe('≈ Off');
    expect(formatParameter({ ...CUTOFF, texts: ['Off', '0.5 Hz', '9 Hz'] }, 1), 'the text has the unit').toBe('9 Hz');
    expect(formatParameter({ ...CUTOFF, texts: ['0.000000', '100.000000'] }, 0.5), 'without idle digits').toBe('≈ 50.0 Hz');
    expect(formatParameter(WAVE, 0.4)).toBe('Saw');
    expect(formatParameter(MIX, 0.375), 'without texts').toBe('37.5 %');
  });

  it('are read again, also as numbers between two of them', () => {
    for (const [value, text] of [[0, '20'], [0.5, '100.0 Hz'], [0.75, '≈ 300 Hz'], [1, '9000'], [0, '−5']] as const) {
      expect(parseParameter(CUTOFF, text), text).toBe(value);
    }
    expect(parseParameter(CUTOFF, 'loud')).toBeNull();
    expect(parseParameter(WAVE, 'square')).toBe(1);
    expect(parseParameter(MIX, '37.5 %')).toBe(0.375);
  });

  it('are requested only for values that the list does not have', () => {
    expect([0.5, 0.75, 0.25].map((value) => hasText(CUTOFF, value))).toEqual([true, false, true]);
    expect([hasText(WAVE, 0.3), hasText(MIX, 0.3)]).toEqual([true, false]);
    expect([roundValue(CUTOFF, 0.12345), roundValue(WAVE, 0.4), roundValue(CUTOFF, 2)]).toEqual([0.123, 0.5, 1]);
  });
});

const song = (engine: object = {}, automation: object[] = []): Project =>
  normalizeProject({ project_id: 'p', tracks: [{ id: 'bass', synth_engine: { type: 'vst2', plugin_id: '444E656B', ...engine }, automation }] });
const engineOf = (project: Project): PluginEngine | null => pluginOf(project.tracks[0] ?? null);

describe('values of a song', () => {
  it('are set by id, and removed without an empty object', () => {
    const changedSong = setInstrumentParameter(setInstrumentParameter(song({ state: 'c3Q=' }), 'bass', 2, 0.5), 'bass', 3, 1);
    expect(engineOf(changedSong)).toEqual({ type: 'vst2', plugin_id: '444E656B', state: 'c3Q=', params: { 2: 0.5, 3: 1 } });
    expect(engineOf(removeInstrumentParameters(changedSong, 'bass', ['2']))?.params).toEqual({ 3: 1 });
    expect(engineOf(removeInstrumentParameters(changedSong, 'bass', ['2', '3']))).not.toHaveProperty('params');
    expect(engineOf(setInstrumentState(changedSong, 'bass', { state: 'bmV3', version: '1.2' }))).toEqual({
      type: 'vst2',
      plugin_id: '444E656B',
      state: 'bmV3',
      plugin_version: '1.2',
    });
    expect(engineOf(setInstrumentState(changedSong, 'bass', null))).toEqual({ type: 'vst2', plugin_id: '444E656B' });
  });

  it('can be automated, also while the parameters are not known', () => {
    const automatedSong = song({ params: { 2: 0.5 } }, [{ target: 'instrument/9', points: [] }, { target: 'instrument/2', points: [] }]);
    const describe = (list: PluginParameterList | null): string[] =>
      targetsOf(automatedSong, 'bass', () => null, () => list).slice(2).map(({ target, group, name, current, format }) => `${target} ${group} ${name} ${format(current)}`);
    expect(describe(LIST)).toEqual(['instrument/2 Nekobi Cutoff 100.0 Hz', 'instrument/3 Nekobi Waveform Sine', 'instrument/9 Nekobi Parameter 9 0.0 %']);
    expect(describe(null)).toEqual(['instrument/9 Plugin Parameter 9 0.0 %', 'instrument/2 Plugin Parameter 2 50.0 %']);
  });
});

describe('commands for a plugin', () => {
  const BASS_PLUGIN = { channelId: 'bass', effectId: null };

  afterEach(() => vi.unstubAllGlobals());

  function opened(answer: (body: Record<string, unknown>) => object): { openSong: Song; commands: PluginCommands; parameters: PluginParameters; notices: Notices } {
    vi.stubGlobal('fetch', async (request: Request) => {
      const body = (await request.json()) as Record<string, unknown>;
      return new Response(JSON.stringify(answer(body)), { headers: { 'Content-Type': 'application/json' } });
    });
    const api = new Api('http://songs.test');
    const [openSong, notices, parameters] = [new Song(), new Notices(), new PluginParameters(api)];
    openSong.open(song(), 1, true);
    return { openSong, notices, parameters, commands: new PluginCommands(openSong, new PluginCatalog(api), parameters, notices) };
  }

  it('make one undo step of a gesture', () => {
    const { openSong, commands } = opened(() => LIST);
    for (const value of [0.3, 0.4, 0.5]) commands.setParameter('bass', CUTOFF, value, 'drag 1');
    openSong.endGesture();
    commands.setParameter('bass', CUTOFF, 0.9, 'drag 2');
    openSong.undo();
    expect(engineOf(openSong.project)?.params).toEqual({ 2: 0.5 });
    openSong.undo();
    expect(engineOf(openSong.project)).not.toHaveProperty('params');
  });

  it('load a program as the state of the plugin, as one undo step', async () => {
    const { openSong, commands, parameters } = opened(({ preset }) => ({ ...LIST, state: 'bmV3', program: preset }));
    commands.setParameter('bass', CUTOFF, 0.3, null);
    await commands.loadProgram(BASS_PLUGIN, 1, 'Hard');
    const engine = engineOf(openSong.project);
    expect(engine).toEqual({ type: 'vst2', plugin_id: '444E656B', plugin_version: '1.0', state: 'bmV3' });
    expect(engine && parameters.listOf(engine)?.program).toBe(1);
    expect(openSong.undoLabel).toBe('Load program “Hard”');
    openSong.undo();
    expect(engineOf(openSong.project)?.params).toEqual({ 2: 0.3 });
  });

  it('load a preset file into an effect, which a reset removes', async () => {
    const bodies: object[] = [];
    const { openSong, commands } = opened((body) => {
      bodies.push(body);
      return { ...LIST, state: 'bmV3' };
    });
    const verb = { id: 'verb', type: 'vst2' as const, plugin_id: '5A56', params: { 1: 0.5 } };
    openSong.edit('Add', (project) => ({ ...project, master: { ...project.master, effects: [verb] } }));
    await commands.loadPresetFile({ channelId: MASTER_ID, effectId: 'verb' }, new File(['CcnK'], 'hall.fxp'));
    expect(bodies).toEqual([{ plugin_id: '5A56', preset: btoa('CcnK'), with_state: true }]);
    expect(openSong.project.master.effects).toEqual([{ ...verb, params: {}, plugin_version: '1.0', state: 'bmV3' }]);
    expect(openSong.undoLabel).toBe('Load preset “hall.fxp”');
    expect(resetEffect(openSong.project, MASTER_ID, 'verb').master.effects).toEqual([{ ...verb, params: {} }]);
    await commands.loadPresetFile({ channelId: MASTER_ID, effectId: 'gone' }, new File(['CcnK'], 'hall.fxp'));
    expect(bodies, 'an effect that has been removed').toHaveLength(1);
  });

  it('tell another version of the plugin than the song was made with', () => {
    const { openSong, commands } = opened(() => LIST);
    openSong.open(song({ plugin_version: '0.9' }), 1, true);
    const otherVersion = (): string | null => otherVersionOf(engineOf(openSong.project) as PluginEngine, '1.0');
    expect(otherVersion()).toBe('0.9');
    commands.acceptVersion(BASS_PLUGIN, '1.0');
    expect([otherVersion(), openSong.undoLabel]).toEqual([null, 'Keep version 1.0']);
    expect(otherVersionOf({ type: 'vst2', plugin_id: '1' }, '1.0'), 'a song from before').toBeNull();
    expect(otherVersionOf({ type: 'vst2', plugin_id: '1', plugin_version: '1.0' }, ''), 'a plugin that states none').toBeNull();
    // Songs have at most 128 characters of a version, and no half of a character.
    const longVersion = `${'ß'.repeat(127)}🎹 build 1`;
    commands.acceptVersion(BASS_PLUGIN, longVersion);
    const savedEngine = engineOf(openSong.project) as PluginEngine;
    expect(savedEngine.plugin_version).toBe(`${'ß'.repeat(127)}🎹`);
    expect([otherVersionOf(savedEngine, longVersion), otherVersionOf(savedEngine, longVersion.slice(1))]).toEqual([null, savedEngine.plugin_version]);
  });

  it('save a preset file with the state and the values of the song', async () => {
    const requests: [string, unknown][] = [];
    const { openSong, commands, notices } = opened(() => LIST);
    vi.stubGlobal('fetch', async (request: Request) => {
      requests.push([new URL(request.url).pathname, await request.json()]);
      return requests.length === 1 ? new Response('CcnK') : new Response(JSON.stringify({ detail: 'The plugin crashed twice.' }), { status: 502 });
    });
    const savedEngine: string[] = [];
    const link = { href: '', download: '', click: () => savedEngine.push(link.download) };
    vi.stubGlobal('document', { createElement: () => link });
    openSong.open(song({ state: 'c3Q=', params: { 2: 0.5 } }), 1, true);
    await commands.savePresetFile(BASS_PLUGIN, 'Bass/1');
    expect(requests).toEqual([['/api/v1/plugins/preset-file', { plugin_id: '444E656B', state: 'c3Q=', params: { 2: 0.5 } }]]);
    expect([savedEngine, link.href]).toEqual([['Bass_1.fxp'], expect.stringMatching(/^blob:/)]);
    await commands.savePresetFile(BASS_PLUGIN, 'Bass');
    expect(notices.visibleNotices.map(({ text }) => text)).toEqual(['The preset of Bass cannot be saved: The plugin crashed twice.']);
    expect([savedEngine.length, commands.saving]).toEqual([1, null]);
  });

  it('keep the plugin if it refuses a preset', async () => {
    const { openSong, commands, notices } = opened(() => LIST);
    await commands.loadProgram(BASS_PLUGIN, 0, 'Soft');
    expect(engineOf(openSong.project)).not.toHaveProperty('state');
    expect(notices.visibleNotices).toHaveLength(1);
    expect(commands.loading).toBeNull();
  });

  it('request the texts of values once', async () => {
    const bodies: object[] = [];
    const { parameters } = opened((body) => {
      bodies.push(body);
      return { ...LIST, value_texts: ['310.5'] };
    });
    const plugin = { type: 'vst2', plugin_id: '444E656B' } as const;
    await parameters.load(plugin);
    await parameters.load(plugin);
    await parameters.loadTexts(plugin, [{ id: 2, value: 0.75 }]);
    await parameters.loadTexts(plugin, [{ id: 2, value: 0.75 }]);
    expect(bodies).toEqual([{ plugin_id: '444E656B' }, { plugin_id: '444E656B', values: [{ id: 2, value: 0.75 }] }]);
    expect(parameters.textOf(plugin, { id: 2, value: 0.75 })).toBe('310.5');
    expect(parameters.textOf({ ...plugin, state: 'c3Q=' }, { id: 2, value: 0.75 })).toBeNull();
  });
});
