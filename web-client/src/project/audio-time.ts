/** The ends of items. The length of an audio item counts frames of its source. */
import type { AudioItem, Item, Project, TempoPoint } from './model';
import { secsAtTick, tickAtSecs } from './tempo';

/** The properties of an audio file that place its clips in time. */
export type AudioSourceInfo = { sampleRateHz: number; frames: number };

/** The data that place items in time. `sourceOf` returns null for unknown files. */
export type SongTime = { tempoMap: readonly TempoPoint[]; sourceOf: (fileId: string) => AudioSourceInfo | null };

/** An assumed length for unknown files: four seconds at 48 kHz. */
const UNKNOWN_SOURCE: AudioSourceInfo = { sampleRateHz: 48_000, frames: 4 * 48_000 };

/** The service's id of the file that an item plays; null if it names none. */
export function fileIdOf(item: AudioItem): string | null {
  return item.source.server_file_id ?? item.server_file_id ?? null;
}

export function sourceOfItem({ sourceOf }: SongTime, item: AudioItem): AudioSourceInfo {
  const id = fileIdOf(item);
  return (id === null ? null : sourceOf(id)) ?? UNKNOWN_SOURCE;
}

/** Length of an audio item in frames of its source. */
export function lengthFramesOf(time: SongTime, item: AudioItem): number {
  return item.length_frames ?? Math.max(0, sourceOfItem(time, item).frames - (item.offset_frames ?? 0));
}

/** Frames of a source from the start of the song to a tick, rounded as in the engine. */
export function framesAtTick({ tempoMap }: SongTime, source: AudioSourceInfo, tick: number): number {
  return Math.round(secsAtTick(tempoMap, tick) * source.sampleRateHz);
}

/** The end of an item, in ticks. */
export function itemEndTick(time: SongTime, item: Item): number {
  if (item.type !== 'audio') return item.start_tick + item.length_ticks;
  const startSecs = secsAtTick(time.tempoMap, item.start_tick);
  const lengthSecs = lengthFramesOf(time, item) / sourceOfItem(time, item).sampleRateHz;
  return Math.round(tickAtSecs(time.tempoMap, startSecs + lengthSecs));
}

/** The end of the last item of the song, in ticks. */
export function songEndTick(time: SongTime, project: Project): number {
  let end = 0;
  for (const track of project.tracks) {
    for (const item of track.items) end = Math.max(end, itemEndTick(time, item));
  }
  return end;
}
