import { describe, expect, it } from 'vitest';

import type { Api } from '../src/api/client';
import type { SoundFontEntry } from '../src/api/types';
import { TrackCommands } from '../src/state/editing/track-commands';
import { Song } from '../src/state/editing/song.svelte';
import { Instruments, type InstrumentChoice } from '../src/state/library/instruments';
import { PluginCatalog } from '../src/state/library/plugin-catalog.svelte';
import { SoundFontCatalog, type CatalogPreset } from '../src/state/library/soundfont-catalog.svelte';
import { Notices } from '../src/state/notices.svelte';

const presets = [
  { bank: 0, program: 0, name: 'Grand Piano' },
  { bank: 0, program: 73, name: 'Flute' },
  { bank: 128, program: 0, name: 'Standard' },
  { bank: 128, program: 25, name: 'TR-808' },
];
const entry = { soundfont_id: 'gm', name: 'GM', source: 'system', default: true, usable: true, presets } as unknown as SoundFontEntry;

function catalog(): SoundFontCatalog {
  const soundFonts = new SoundFontCatalog({} as Api);
  soundFonts.entries = [entry];
  return soundFonts;
}

describe('the search for sounds', () => {
  const presetNames = (query: string): string[] => catalog().search(query).flatMap((group) => group.presets.map(({ name }) => name));

  it('finds drum kits, whose names do not say that they are kits', () => {
    expect(presetNames('drum kit')).toEqual(['Standard', 'TR-808']);
    expect(presetNames('drums 808')).toEqual(['TR-808']);
    expect(presetNames('fl')).toEqual(['Flute']);
  });
});

describe('the name of a track', () => {
  it('follows its sound until the user changes it', () => {
    const song = new Song();
    const soundFonts = catalog();
    const commands = new TrackCommands(song, soundFonts, new Instruments(soundFonts, new PluginCatalog({} as Api)), new Notices());
    const choice = (name: string): InstrumentChoice => {
      const preset = catalog().search(name)[0]?.presets[0] as CatalogPreset;
      return { kind: 'preset', preset };
    };
    commands.addInstrument(null);
    expect(song.project.tracks[0]?.name).toBe('Grand Piano');
    commands.assignInstrument(choice('flute'));
    expect([song.project.tracks[0]?.name, song.undoLabel]).toEqual(['Flute', 'Choose Flute']);
    song.edit('Rename track', (project) => ({ ...project, tracks: project.tracks.map((track) => ({ ...track, name: 'Melody' })) }));
    commands.assignInstrument(choice('standard'));
    expect([song.project.tracks[0]?.name, song.project.tracks[0]?.synth_engine]).toMatchObject(['Melody', { bank: 128, program: 0 }]);
  });
});
