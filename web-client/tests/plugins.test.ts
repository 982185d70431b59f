/** Tests of the catalogue of plugins, and of plugins as instruments of tracks. */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import type { VstPlugin } from '../src/api/types';
import type { Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { Song } from '../src/state/editing/song.svelte';
import { TrackCommands } from '../src/state/editing/track-commands';
import { Instruments, type InstrumentChoice } from '../src/state/library/instruments';
import { PluginCatalog } from '../src/state/library/plugin-catalog.svelte';
import { groupPlugins, searchPlugins, type PluginGrouping } from '../src/state/library/plugin-groups';
import { SoundFontCatalog, type CatalogPreset } from '../src/state/library/soundfont-catalog.svelte';
import { Notices } from '../src/state/notices.svelte';

function plugin(name: string, vendor: string, id: string, format: VstPlugin['format'] = 'vst2'): VstPlugin {
  return { plugin_id: id, name, vendor, format, version: '1.0', categories: format === 'vst3' ? ['Instrument', 'Synth'] : [], path: `/vst/${name}.so` };
}

const NEKOBI = plugin('Nekobi', 'DISTRHO', '444E656B');
const PLUGINS = [plugin('Zebra', '', '1'), plugin('Vex', 'DISTRHO', '2'), NEKOBI, plugin('Dexed', 'Digital Suburban', '3', 'vst3')];

async function catalogOf(plugins: readonly VstPlugin[]): Promise<PluginCatalog> {
  const body = { vst_instruments: plugins, soundfonts: [] };
  vi.stubGlobal('fetch', async () => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } }));
  const catalog = new PluginCatalog(new Api('http://songs.test'));
  await catalog.load();
  return catalog;
}

afterEach(() => vi.unstubAllGlobals());

describe('the catalogue of plugins', () => {
  it('groups plugins by maker or kind, and finds them by name, maker, format and category', async () => {
    const catalog = await catalogOf(PLUGINS);
    const groupNames = (query: string, grouping: PluginGrouping = 'maker'): string[] =>
      groupPlugins(searchPlugins(catalog.instruments, query), grouping).map(({ name: heading, plugins }) => `${heading}: ${plugins.map(({ name }) => name).join(', ')}`);
    expect(groupNames('')).toEqual(['Digital Suburban: Dexed', 'DISTRHO: Nekobi, Vex', 'Unknown maker: Zebra']);
    expect(groupNames('distrho NEK')).toEqual(['DISTRHO: Nekobi']);
    expect(groupNames('vst3')).toEqual(['Digital Suburban: Dexed']);
    expect(groupNames('synth')).toEqual(['Digital Suburban: Dexed']);
    expect(groupNames('piano')).toEqual([]);
    expect(groupNames('', 'kind'), 'plugins without a kind are last').toEqual(['Synth: Dexed', 'Other: Nekobi, Vex, Zebra']);
  });

  it('knows missing plugins only once it is loaded', async () => {
    const catalog = await catalogOf(PLUGINS);
    expect(catalog.isMissing({ type: 'vst2', plugin_id: '444E656B' })).toBe(false);
    expect(catalog.isMissing({ type: 'vst3', plugin_id: '444E656B' }), 'another format').toBe(true);
    expect(catalog.nameOf({ type: 'vst2', plugin_id: 'lost' })).toBe('Plugin lost');
    expect(new PluginCatalog(new Api()).isMissing({ type: 'vst2', plugin_id: 'lost' })).toBe(false);
  });
});

describe('a plugin as an instrument', () => {
  const controls = [{ type: 'program', tick: 0, program: 5 }];
  const items = [{ type: 'midi', id: 'i', start_tick: 0, length_ticks: 960, notes: [], controls }];
  const song = (): Project =>
    normalizeProject({ project_id: 'p', tracks: [{ id: 'a', name: 'Bass', synth_engine: { type: 'soundfont', bank: 0, program: 33 }, items }] });
  const nekobi: InstrumentChoice = { kind: 'plugin', plugin: NEKOBI };

  async function opened(): Promise<{ openSong: Song; commands: TrackCommands }> {
    const soundFonts = new SoundFontCatalog(new Api());
    const instruments = new Instruments(soundFonts, await catalogOf(PLUGINS));
    const openSong = new Song();
    openSong.open(song(), 1, true);
    return { openSong, commands: new TrackCommands(openSong, soundFonts, instruments, new Notices()) };
  }

  it('replaces the preset of a track, and undo and a preset return', async () => {
    const { openSong, commands } = await opened();
    commands.assignInstrument(nekobi, 'a');
    const [track] = openSong.project.tracks;
    expect(track?.synth_engine).toEqual({ type: 'vst2', plugin_id: '444E656B', plugin_version: '1.0' });
    expect(track?.name).toBe('Bass');
    expect(track?.items[0], 'a program change would select a program of the plugin').toMatchObject({ controls: [] });
    openSong.undo();
    expect(openSong.project.tracks[0]?.synth_engine?.type).toBe('soundfont');
    openSong.redo();
    const preset = { soundfont: { soundfont_id: 'gm' }, bank: 0, program: 1, name: 'Piano', key: 'gm/0/1' } as CatalogPreset;
    commands.assignInstrument({ kind: 'preset', preset }, 'a');
    expect(openSong.project.tracks[0]?.synth_engine).toEqual({ type: 'soundfont', soundfont_id: 'gm', bank: 0, program: 1 });
  });

  it('becomes a new track with its name if no instrument track is selected', async () => {
    const { openSong, commands } = await opened();
    commands.assignInstrument(nekobi, 'none');
    expect(openSong.project.tracks[1]).toMatchObject({ name: 'Nekobi', synth_engine: { type: 'vst2', plugin_id: '444E656B' } });
  });

  it('removes the automation of another plugin\'s parameters', async () => {
    const { openSong, commands } = await opened();
    commands.assignInstrument(nekobi, 'a');
    const automation = [{ target: 'instrument/3', points: [] }, { target: 'pan', points: [] }];
    openSong.edit('Automate', (project) => ({ ...project, tracks: project.tracks.map((track) => ({ ...track, automation })) }));
    commands.assignInstrument({ kind: 'plugin', plugin: PLUGINS[1] as VstPlugin }, 'a');
    expect(openSong.project.tracks[0]?.automation).toEqual([{ target: 'pan', points: [] }]);
    openSong.undo();
    expect(openSong.project.tracks[0]?.automation).toEqual(automation);
  });

  it('keeps its state if it is chosen again', async () => {
    const { openSong, commands } = await opened();
    const engine = { type: 'vst2', plugin_id: '444E656B', state: 'c3RhdGU=' } as const;
    openSong.edit('Set', (project) => ({ ...project, tracks: project.tracks.map((track) => ({ ...track, synth_engine: engine })) }));
    commands.assignInstrument(nekobi, 'a');
    expect(openSong.project.tracks[0]?.synth_engine).toBe(engine);
  });
});
