/** The parts of a song that an export can render: sections, bars, and some of the tracks. */
import { barPositionAt, tickOfBarPosition } from '../../../project/grid';
import type { Project, Track } from '../../../project/model';

/** A range of the song in ticks, from `start_tick` up to, but not including, `end_tick`. */
export type TickRange = { start_tick: number; end_tick: number };

/** A named part of the song. */
export type Section = { name: string; range: TickRange };

type Structure = Pick<Project, 'tracks' | 'markers'>;

/**
 * Returns the sections of a song in the order of their starts: its section items, and the parts
 * from each marker to the next one or to the end of the song. A part that is also a section item
 * appears once.
 */
export function sectionsOf(song: Structure, endTick: number): Section[] {
  const items = itemSections(song);
  const isItem = ({ range }: Section): boolean =>
    items.some((item) => item.range.start_tick === range.start_tick && item.range.end_tick === range.end_tick);
  return inOrder([...items, ...markerSections(song, endTick).filter((section) => !isItem(section))]);
}

/**
 * Returns the sections that divide a song: its section items, or, without them, the parts between
 * its markers.
 */
export function divisionOf(song: Structure, endTick: number): Section[] {
  const items = itemSections(song);
  return inOrder(items.length > 0 ? items : markerSections(song, endTick));
}

function itemSections({ tracks }: Structure): Section[] {
  const items = tracks.flatMap((track) => track.items).filter((item) => item.type === 'section');
  return items.map(({ sectionId, name, start_tick, length_ticks }) => ({
    name: name || sectionId,
    range: { start_tick, end_tick: start_tick + length_ticks },
  }));
}

function markerSections({ markers }: Structure, endTick: number): Section[] {
  const sorted = markers.toSorted((first, second) => first.tick - second.tick);
  return sorted.map(({ name, tick }) => ({
    name: name || 'Marker',
    range: { start_tick: tick, end_tick: sorted.find((marker) => marker.tick > tick)?.tick ?? endTick },
  }));
}

const inOrder = (sections: Section[]): Section[] =>
  sections
    .filter(({ range }) => range.end_tick > range.start_tick)
    .sort((first, second) => first.range.start_tick - second.range.start_tick);

/** The first and the last bar of a range, counted from 1. */
export type Bars = { first: number; last: number };

/** Returns the bars that a range touches. */
export const barsOf = ({ time_signatures }: Pick<Project, 'time_signatures'>, { start_tick, end_tick }: TickRange): Bars => ({
  first: barPositionAt(time_signatures, start_tick).bar,
  last: barPositionAt(time_signatures, Math.max(start_tick, end_tick - 1)).bar,
});

/** Returns the range of some bars; null if the last bar is before the first one. */
export function rangeOfBars({ time_signatures }: Pick<Project, 'time_signatures'>, { first, last }: Bars): TickRange | null {
  if (!Number.isInteger(first) || !Number.isInteger(last) || first < 1 || last < first) return null;
  const startOf = (bar: number): number => tickOfBarPosition(time_signatures, { bar, beat: 1, tick: 0 });
  return { start_tick: startOf(first), end_tick: startOf(last + 1) };
}

/** Returns the tracks that can be exported alone. Buses and groups have no sound of their own. */
export const tracksWithContent = (tracks: readonly Track[]): Track[] =>
  tracks.filter(({ kind }) => kind === 'instrument' || kind === 'audio');
