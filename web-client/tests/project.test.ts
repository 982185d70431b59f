import { describe, expect, it } from 'vitest';

import { songEndTick } from '../src/project/audio-time';
import { canHold, findItem, resizeItem, setItemNotes } from '../src/project/edit-items';
import { parseSignature, setTempoAt, duplicateTrack, moveTrack } from '../src/project/edit-tracks';
import { projectForEngine, AUDITION_TRACK_ID } from '../src/project/engine-project';
import { setInstrument } from '../src/project/instrument';
import { liveChanges } from '../src/project/live-changes';
import { addImported, isEmptySong, sameTempo } from '../src/project/merge';
import type { Control, Item, MidiItem, Project } from '../src/project/model';
import { emptyProject, normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';

function song(controls: Control[] = []): Project {
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    name: 'Song',
    tracks: [
      {
        id: 'a',
        kind: 'instrument',
        synth_engine: { type: 'soundfont', bank: 0, program: 1 },
        items: [
          {
            type: 'midi',
            id: 'one',
            start_tick: 960,
            length_ticks: 3840,
            notes: [{ tick: 480, length_ticks: 240, pitch: 60, velocity: 0.5 }],
            controls,
          },
        ],
      },
      { id: 'b', kind: 'instrument', items: [] },
    ],
  });
}
const midiItem = (project: Project, id: string): MidiItem => findItem(project, id)?.item as MidiItem;

describe('normalizing a project', () => {
  it('fills omitted fields and keeps unknown ones', () => {
    const project = normalizeProject({ project_id: 'x', tracks: [{ id: 't', kind: 'audio', later: 1 }], future: { a: 1 } });
    expect(project).toMatchObject({
      name: 'Untitled',
      sample_rate_hz: 48000,
      tempo_map: [{ tick: 0, bpm: 120 }],
      future: { a: 1 },
      tracks: [{ later: 1, volume_db: 0, mute: false, items: [] }],
    });
  });

  it('refuses documents without a list of tracks', () => {
    expect(() => normalizeProject([])).toThrow(TypeError);
    expect(() => normalizeProject({ tracks: 3 })).toThrow(/no list of tracks/);
  });
});

describe('items', () => {
  it('grow to the end of the bar in which their last note ends', () => {
    const notes = [{ tick: 4000, length_ticks: 100, pitch: 60, velocity: 1 }];
    expect(midiItem(setItemNotes(song(), 'one', notes), 'one').length_ticks).toBe(2 * 3840 - 960);
    expect(midiItem(setItemNotes(song(), 'one', []), 'one').length_ticks).toBe(3840);
  });

  it('have at least one tick', () => {
    expect(midiItem(resizeItem(song(), 'one', -5), 'one').length_ticks).toBe(1);
  });

  it('determine the end of the song', () => {
    expect(songEndTick({ tempoMap: song().tempo_map, sourceOf: () => null }, song())).toBe(4800);
  });
});

describe('tracks', () => {
  it('are copied below themselves, with new items', () => {
    const copy = duplicateTrack(song(), 'a');
    expect(copy?.project.tracks.map((track) => track.id)).toEqual(['a', copy?.trackId, 'b']);
    const ids = copy?.project.tracks.flatMap((track) => track.items.map((item) => (item.type === 'midi' ? item.id : '')));
    expect(new Set(ids).size).toBe(2);
  });

  it('move within the list of tracks', () => {
    expect(moveTrack(song(), 'b', -5).tracks.map((track) => track.id)).toEqual(['b', 'a']);
    const project = song();
    expect(moveTrack(project, 'a', -1)).toBe(project);
  });

  it('leave the audition track audible while one of them is soloed', () => {
    const sound = { type: 'soundfont' as const, bank: 0, program: 1 };
    const auditionTrackOf = (project: Project) => projectForEngine(project, null, sound).tracks.at(-1);
    expect(auditionTrackOf(song())).toMatchObject({ id: AUDITION_TRACK_ID, solo: false });
    const soloed = updateTrack(song(), 'a', (track) => ({ ...track, solo: true }));
    expect(auditionTrackOf(soloed)).toMatchObject({ id: AUDITION_TRACK_ID, solo: true });
  });
});

describe('the tempo and the time signature', () => {
  it('are changed at the point that is in force', () => {
    const project = { ...song(), tempo_map: [{ tick: 0, bpm: 100 }, { tick: 960, bpm: 140 }] };
    expect(setTempoAt(project, 959, 90.004).tempo_map.map((point) => point.bpm)).toEqual([90, 140]);
    expect(setTempoAt(project, 960, 5000).tempo_map.map((point) => point.bpm)).toEqual([100, 999]);
  });

  it.each([
    ['3/4', { numerator: 3, denominator: 4 }],
    [' 12 / 8 ', { numerator: 12, denominator: 8 }],
    ['4/5', null],
    ['0/4', null],
    ['256/4', null],
    ['four', null],
  ])('are read from text: %j', (text, expected) => {
    expect(parseSignature(text)).toEqual(expected);
  });
});

describe('choosing an instrument', () => {
  const engine = { type: 'soundfont', soundfont_id: 'gm', bank: 0, program: 40 } as const;
  const controls: Control[] = [
    { tick: 0, type: 'cc', controller: 0, value: 8 },
    { tick: 0, type: 'cc', controller: 32, value: 1 },
    { tick: 0, type: 'cc', controller: 7, value: 100 },
    { tick: 480, type: 'program', program: 5 },
    { tick: 481, type: 'program', program: 6 },
  ];

  it('removes program and bank controls up to the first note only', () => {
    const change = setInstrument(song(controls), 'a', engine);
    expect(midiItem(change.project, 'one').controls).toEqual([controls[2], controls[4]]);
    expect(change).toMatchObject({ removedControlCount: 3, laterProgramChangeCount: 1 });
    expect(change.project.tracks[0]?.synth_engine).toEqual(engine);
  });

  it('removes bank and program of items', () => {
    const originalSong = song();
    const item = midiItem(originalSong, 'one');
    item.soundfont_bank = 1;
    item.soundfont_program = 2;
    const changedItem = midiItem(setInstrument(originalSong, 'a', engine).project, 'one');
    expect('soundfont_bank' in changedItem || 'soundfont_program' in changedItem).toBe(false);
  });

  it('shares unchanged items', () => {
    const project = song();
    expect(setInstrument(project, 'a', engine).project.tracks[0]?.items[0]).toBe(project.tracks[0]?.items[0]);
  });
});

describe('importing', () => {
  it('gives an empty song the imported name, tempo and signatures', () => {
    const importedSong: Project = { ...song(), name: 'Tune', tempo_map: [{ tick: 0, bpm: 99 }] };
    const merged = addImported(emptyProject(), importedSong);
    expect(merged).toMatchObject({ name: 'Tune', tempo_map: [{ tick: 0, bpm: 99 }] });
    expect(merged.tracks).toHaveLength(2);
    expect(isEmptySong(merged)).toBe(false);
  });

  it('adds tracks under new ids, and keeps the tempo', () => {
    const merged = addImported(song(), { ...song(), tempo_map: [{ tick: 0, bpm: 99 }] });
    expect(merged.tempo_map).toEqual([{ tick: 0, bpm: 120 }]);
    expect(new Set(merged.tracks.map((track) => track.id)).size).toBe(4);
    expect(sameTempo(merged, song())).toBe(true);
    expect(sameTempo(merged, { ...song(), tempo_map: [{ tick: 0, bpm: 99 }] })).toBe(false);
  });
});

describe('the project for the engine', () => {
  it('names the default SoundFont for tracks without one', () => {
    const engineProject = projectForEngine(song(), 'gm', null);
    expect(engineProject.tracks[0]?.synth_engine).toMatchObject({ soundfont_id: 'gm' });
    expect(engineProject.tracks).toHaveLength(2);
  });

  it('has an audition track only while a sound is auditioned', () => {
    const engineProject = projectForEngine(song(), 'gm', { type: 'soundfont', bank: 0, program: 9 });
    expect(engineProject.tracks.at(-1)).toMatchObject({ id: AUDITION_TRACK_ID, items: [] });
  });

  it('needs a new session after edits of notes and of the tempo, but not after edits of faders', () => {
    const project = song();
    const louder = updateTrack(project, 'a', (track) => ({ ...track, volume_db: 3, mute: true }));
    const changesTo = (projectAfter: Project) => liveChanges(project, projectAfter, () => null);
    expect(changesTo(louder), 'faders and mutes are not live changes').toEqual([]);
    expect(changesTo(setItemNotes(project, 'one', []))).toBeNull();
    expect(changesTo(setTempoAt(project, 0, 121))).toBeNull();
  });
});

describe('items', () => {
  it('can only be on tracks of their kind', () => {
    const [notes] = song().tracks[0]?.items ?? [];
    const audio: Item = { type: 'audio', id: 'take', start_tick: 0, source: {} };
    if (!notes) throw new Error('the song has no item');
    expect([canHold('instrument', notes), canHold('audio', notes), canHold('bus', notes)]).toEqual([true, false, false]);
    expect([canHold('instrument', audio), canHold('audio', audio), canHold('group', audio)]).toEqual([false, true, false]);
  });
});
