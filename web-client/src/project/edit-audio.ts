/** Adds, trims, fades and splits audio items. */
import { framesAtTick, lengthFramesOf, sourceOfItem, type SongTime } from './audio-time';
import { findItem, updateItem } from './edit-items';
import { newId } from './ids';
import type { AudioItem, Project } from './model';
import { updateTrack } from './update-track';

/** Returns a new item that plays a whole file; `frames` is the length of the file. */
export function audioItem(fileId: string, name: string, startTick: number, frames: number): AudioItem {
  return {
    type: 'audio',
    id: newId('item'),
    name,
    start_tick: startTick,
    offset_frames: 0,
    length_frames: frames,
    gain_db: 0,
    fades: { in_frames: 0, out_frames: 0 },
    loop: false,
    source: { server_file_id: fileId },
  };
}

export function addItem(project: Project, trackId: string, item: AudioItem): Project {
  return updateTrack(project, trackId, (track) => ({ ...track, items: [...track.items, item] }));
}

/** Changes an audio item, and shortens fades that are longer than the item. */
export function changeAudio(project: Project, time: SongTime, id: string, change: Partial<AudioItem>): Project {
  return updateItem<AudioItem>(project, id, (item) => withFittingFades(time, { ...item, ...change }));
}

function withFittingFades(time: SongTime, item: AudioItem): AudioItem {
  const frames = lengthFramesOf(time, item);
  const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
  if (fadeIn <= frames && fadeOut <= frames) return item;
  return { ...item, fades: { ...item.fades, in_frames: Math.min(fadeIn, frames), out_frames: Math.min(fadeOut, frames) } };
}

/**
 * Moves the start of an item to a tick. Except in a loop, the audio after the new start stays at
 * its position in the song. An item does not change if it would have no frames or start before its
 * file.
 */
export function trimStart(project: Project, time: SongTime, item: AudioItem, tick: number): Project {
  const source = sourceOfItem(time, item);
  const lengthFrames = lengthFramesOf(time, item);
  const offsetFrames = item.offset_frames ?? 0;
  const trimmedFrames = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  // A loop always starts with the first frame of its file, so its offset stays 0.
  if (trimmedFrames >= lengthFrames || (!item.loop && offsetFrames + trimmedFrames < 0)) return project;
  const startTick = Math.max(0, Math.round(tick));
  const offsetChange = item.loop ? {} : { offset_frames: offsetFrames + trimmedFrames };
  return changeAudio(project, time, item.id, { start_tick: startTick, length_frames: lengthFrames - trimmedFrames, ...offsetChange });
}

/** Moves the end of an item to a tick. Only a loop can be longer than its file. */
export function trimEnd(project: Project, time: SongTime, item: AudioItem, tick: number): Project {
  const source = sourceOfItem(time, item);
  const newFrames = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  const maxFrames = item.loop ? Infinity : Math.max(1, source.frames - (item.offset_frames ?? 0));
  return changeAudio(project, time, item.id, { length_frames: Math.min(maxFrames, Math.max(1, newFrames)) });
}

/** Sets the lengths of the fades, in frames of the file. */
export function setFades(
  project: Project,
  time: SongTime,
  item: AudioItem,
  fades: { in_frames?: number; out_frames?: number },
): Project {
  const roundedFades = Object.fromEntries(Object.entries(fades).map(([name, frames]) => [name, Math.max(0, Math.round(frames))]));
  return changeAudio(project, time, item.id, { fades: { ...item.fades, ...roundedFades } });
}

/**
 * Splits an item at a tick and returns the id of the second part. Returns null if the tick is not
 * inside the item. It also returns null for a loop, because a loop must start with the first frame
 * of its file.
 */
export function splitAudio(
  project: Project,
  time: SongTime,
  id: string,
  tick: number,
): { project: Project; itemId: string } | null {
  const itemInTrack = findItem(project, id);
  if (itemInTrack?.item.type !== 'audio' || itemInTrack.item.loop) return null;
  const { item, track } = itemInTrack;
  const source = sourceOfItem(time, item);
  const lengthFrames = lengthFramesOf(time, item);
  const firstFrames = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  if (firstFrames <= 0 || firstFrames >= lengthFrames) return null;
  const secondPart = withFittingFades(time, {
    ...item,
    id: newId('item'),
    start_tick: Math.round(tick),
    offset_frames: (item.offset_frames ?? 0) + firstFrames,
    length_frames: lengthFrames - firstFrames,
    fades: { ...item.fades, in_frames: 0 },
  });
  const shortened = changeAudio(project, time, id, { length_frames: firstFrames, fades: { ...item.fades, out_frames: 0 } });
  return { project: addItem(shortened, track.id, secondPart), itemId: secondPart.id };
}
