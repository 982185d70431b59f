/** Edits several clips together. Their distances stay the same. */
import { canHold, copyOfItem, itemId } from './edit-items';
import type { Item, Project, Track } from './model';

export type ClipIds = ReadonlySet<string>;

/** A clip, its track, and the index of the track. */
export type PlacedClip = { item: Item; track: Track; lane: number };

/** Returns the clips with these ids, from the first track to the last. */
export function clipsOf(project: Project, ids: ClipIds): PlacedClip[] {
  return project.tracks.flatMap((track, lane) =>
    track.items.filter((item) => ids.has(itemId(item))).map((item) => ({ item, track, lane })),
  );
}

export function removeClips(project: Project, ids: ClipIds): Project {
  return withItems(project, (track) => track.items.filter((item) => !ids.has(itemId(item))));
}

/**
 * Moves clips by ticks and by tracks. No clip moves before the start of the song. The clips stay on
 * their tracks unless all of them fit on the other tracks.
 */
export function moveClips(project: Project, ids: ClipIds, byTicks: number, byLanes: number): Project {
  const clips = clipsOf(project, ids);
  const ticks = limitedTicks(clips, byTicks);
  const lanes = fits(project, clips, byLanes) ? byLanes : 0;
  if (clips.length === 0 || (ticks === 0 && lanes === 0)) return project;
  const movedItem = (item: Item): Item => ({ ...item, start_tick: item.start_tick + ticks });
  if (lanes === 0) return withItems(project, (track) => track.items.map((item) => (ids.has(itemId(item)) ? movedItem(item) : item)));
  return withItems(project, (track, lane) => [
    ...track.items.filter((item) => !ids.has(itemId(item))),
    ...clips.filter((clip) => clip.lane + lanes === lane).map(({ item }) => movedItem(item)),
  ]);
}

/** Adds copies of clips, moved like {@link moveClips}, and returns the ids of the copies. */
export function copyClips(project: Project, ids: ClipIds, byTicks: number, byLanes: number): { project: Project; ids: Set<string> } {
  const clips = clipsOf(project, ids);
  const ticks = limitedTicks(clips, byTicks);
  const lanes = fits(project, clips, byLanes) ? byLanes : 0;
  const copies = clips.map(({ item, lane }) => ({ lane: lane + lanes, item: { ...copyOfItem(item), start_tick: item.start_tick + ticks } }));
  return {
    project: withItems(project, (track, lane) => [...track.items, ...copies.filter((copy) => copy.lane === lane).map(({ item }) => item)]),
    ids: new Set(copies.map(({ item }) => itemId(item))),
  };
}

/**
 * Returns how much later a copy of a passage of `lengthTicks` starts: the length, rounded up to a
 * multiple of `beatTicks`, or of `stepTicks` if the passage is shorter than a beat.
 */
export function duplicateOffset(lengthTicks: number, beatTicks: number, stepTicks: number): number {
  const gridTicks = Math.max(1, lengthTicks < beatTicks ? stepTicks : beatTicks);
  return Math.max(gridTicks, Math.ceil(lengthTicks / gridTicks) * gridTicks);
}

function limitedTicks(clips: readonly PlacedClip[], byTicks: number): number {
  const firstTick = clips.reduce((tick, { item }) => Math.min(tick, item.start_tick), Infinity);
  return Math.max(-firstTick, Math.round(byTicks));
}

function fits(project: Project, clips: readonly PlacedClip[], byLanes: number): boolean {
  return clips.every(({ item, lane }) => {
    const track = project.tracks[lane + byLanes];
    return track !== undefined && canHold(track.kind, item);
  });
}

/** Replaces the items of each track. A track whose items stay the same stays the same object. */
function withItems(project: Project, change: (track: Track, lane: number) => Item[]): Project {
  return {
    ...project,
    tracks: project.tracks.map((track, lane) => {
      const items = change(track, lane);
      const isSame = items.length === track.items.length && items.every((item, index) => item === track.items[index]);
      return isSame ? track : { ...track, items };
    }),
  };
}
