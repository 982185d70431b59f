import { describe, expect, it } from 'vitest';
import type { Project, Track } from '../src/project/model';
import { barsOf, divisionOf, tracksWithContent, rangeOfBars, sectionsOf } from '../src/rooms/dialogs/export/song-parts';

const track = (id: string, kind: Track['kind'], items: Track['items'] = []): Track => ({
  id,
  name: id,
  kind,
  color: '#fff',
  volume_db: 0,
  pan: 0,
  mute: false,
  solo: false,
  items,
});

describe('sections of a song', () => {
  it('are its section items, and the parts between its markers', () => {
    const tracks = [
      track('a', 'audio', [{ type: 'section', sectionId: 's', name: 'Verse', start_tick: 960, length_ticks: 960 }]),
    ];
    const markers = [
      { tick: 4_000, name: 'Outro' },
      { tick: 0, name: 'Intro' },
      { tick: 1_000, name: '' },
      { tick: 1_000, name: 'B' },
      { tick: 9_000, name: 'After the end' },
    ];
    const sections = sectionsOf({ tracks, markers }, 8_000);
    expect(sections.map(({ name, range }) => [name, range.start_tick, range.end_tick])).toEqual([
      ['Intro', 0, 1_000],
      ['Verse', 960, 1_920],
      ['Marker', 1_000, 4_000],
      ['B', 1_000, 4_000],
      ['Outro', 4_000, 9_000],
    ]);
    expect(divisionOf({ tracks, markers }, 8_000).map(({ name }) => name)).toEqual(['Verse']);
    expect(divisionOf({ tracks: [], markers }, 8_000)).toHaveLength(4);
    const sameAsVerse = [
      { tick: 960, name: 'A' },
      { tick: 1_920, name: 'B' },
    ];
    expect(sectionsOf({ tracks, markers: sameAsVerse }, 3_000).map(({ name }) => name)).toEqual(['Verse', 'B']);
  });

  it('have bars, also where the time signature changes', () => {
    const song: Pick<Project, 'time_signatures'> = {
      time_signatures: [
        { tick: 0, numerator: 4, denominator: 4 },
        { tick: 7_680, numerator: 3, denominator: 4 },
      ],
    };
    expect(rangeOfBars(song, { first: 2, last: 3 })).toEqual({ start_tick: 3_840, end_tick: 10_560 });
    expect(barsOf(song, { start_tick: 3_840, end_tick: 10_560 })).toEqual({ first: 2, last: 3 });
    expect(barsOf(song, { start_tick: 0, end_tick: 0 })).toEqual({ first: 1, last: 1 });
    for (const bars of [{ first: 3, last: 2 }, { first: 0, last: 2 }, { first: 1.5, last: 2 }, { first: NaN, last: 1 }]) {
      expect(rangeOfBars(song, bars)).toBeNull();
    }
  });

  it('play only instruments and audio', () => {
    const tracks = (['instrument', 'audio', 'bus', 'group'] as const).map((kind) => track(kind, kind));
    expect(tracksWithContent(tracks).map(({ id }) => id)).toEqual(['instrument', 'audio']);
  });
});
