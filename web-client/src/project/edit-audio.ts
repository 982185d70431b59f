/** Edits of audio items: adding, trimming, fading and splitting. */
import { framesAtTick, lengthFramesOf, sourceOfItem, type SongTime } from './audio-time';
import { findItem, updateItem } from './edit-items';
import { newId } from './ids';
import type { AudioItem, Project } from './model';
import { updateTrack } from './update-track';

/** An item that plays a whole file. */
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

/** Changes an audio item, and shortens its fades to its length. */
export function changeAudio(project: Project, time: SongTime, id: string, change: Partial<AudioItem>): Project {
  return updateItem<AudioItem>(project, id, (item) => withFittingFades(time, { ...item, ...change }));
}

function withFittingFades(time: SongTime, item: AudioItem): AudioItem {
  const length = lengthFramesOf(time, item);
  const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
  if (fadeIn <= length && fadeOut <= length) return item;
  return { ...item, fades: { ...item.fades, in_frames: Math.min(fadeIn, length), out_frames: Math.min(fadeOut, length) } };
}

/** Moves the start of an item; its audio stays at the same position in the song. */
export function trimStart(project: Project, time: SongTime, item: AudioItem, tick: number): Project {
  const source = sourceOfItem(time, item);
  const length = lengthFramesOf(time, item);
  const offset = item.offset_frames ?? 0;
  const by = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  // A loop has no audio before its first frame.
  if (by >= length || (!item.loop && offset + by < 0)) return project;
  const start = Math.max(0, Math.round(tick));
  const offsetChange = item.loop ? {} : { offset_frames: offset + by };
  return changeAudio(project, time, item.id, { start_tick: start, length_frames: length - by, ...offsetChange });
}

/** Moves the end of an item; only a loop can be longer than its source. */
export function trimEnd(project: Project, time: SongTime, item: AudioItem, tick: number): Project {
  const source = sourceOfItem(time, item);
  const wanted = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  const most = item.loop ? Infinity : Math.max(1, source.frames - (item.offset_frames ?? 0));
  return changeAudio(project, time, item.id, { length_frames: Math.min(most, Math.max(1, wanted)) });
}

/** Sets the lengths of the fades in frames of the source. */
export function setFades(
  project: Project,
  time: SongTime,
  item: AudioItem,
  fades: { in_frames?: number; out_frames?: number },
): Project {
  const rounded = Object.fromEntries(Object.entries(fades).map(([name, frames]) => [name, Math.max(0, Math.round(frames))]));
  return changeAudio(project, time, item.id, { fades: { ...item.fades, ...rounded } });
}

/**
 * Cuts an item at a tick inside it, and returns the id of the second part. Returns null outside the
 * item, and for loops, which cannot start within their source.
 */
export function splitAudio(
  project: Project,
  time: SongTime,
  id: string,
  tick: number,
): { project: Project; itemId: string } | null {
  const found = findItem(project, id);
  if (found?.item.type !== 'audio' || found.item.loop) return null;
  const { item, track } = found;
  const source = sourceOfItem(time, item);
  const length = lengthFramesOf(time, item);
  const at = framesAtTick(time, source, tick) - framesAtTick(time, source, item.start_tick);
  if (at <= 0 || at >= length) return null;
  const second = withFittingFades(time, {
    ...item,
    id: newId('item'),
    start_tick: Math.round(tick),
    offset_frames: (item.offset_frames ?? 0) + at,
    length_frames: length - at,
    fades: { ...item.fades, in_frames: 0 },
  });
  const shortened = changeAudio(project, time, id, { length_frames: at, fades: { ...item.fades, out_frames: 0 } });
  return { project: addItem(shortened, track.id, second), itemId: second.id };
}
