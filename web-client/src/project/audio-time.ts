/**
 * Computes where items end. The length of an audio item is in frames of its file. The end thus
 * depends on the sample rate of the file and on the tempo.
 */
import type { AudioItem, Item, Project, TempoPoint } from './model';
import { secsAtTick, tickAtSecs } from './tempo';

/** The properties of an audio file that determine how long its clips are. */
export type AudioSourceInfo = { sampleRateHz: number; frames: number };

/** The tempo and the audio files of a song. `sourceOf` returns null for an unknown file. */
export type SongTime = { tempoMap: readonly TempoPoint[]; sourceOf: (fileId: string) => AudioSourceInfo | null };

/** The properties that an unknown file is assumed to have: four seconds at 48 kHz. */
const UNKNOWN_SOURCE: AudioSourceInfo = { sampleRateHz: 48_000, frames: 4 * 48_000 };

/** Returns the service's id of the file that an item plays; null if the item names no file. */
export function fileIdOf(item: AudioItem): string | null {
  return item.source.server_file_id ?? item.server_file_id ?? null;
}

export function sourceOfItem({ sourceOf }: SongTime, item: AudioItem): AudioSourceInfo {
  const id = fileIdOf(item);
  return (id === null ? null : sourceOf(id)) ?? UNKNOWN_SOURCE;
}

/** Returns the length of an audio item in frames of its file. */
export function lengthFramesOf(time: SongTime, item: AudioItem): number {
  return item.length_frames ?? Math.max(0, sourceOfItem(time, item).frames - (item.offset_frames ?? 0));
}

/**
 * Returns the time from the start of the song to a tick, in frames at the source's sample rate,
 * rounded as in the engine.
 */
export function framesAtTick({ tempoMap }: SongTime, source: AudioSourceInfo, tick: number): number {
  return Math.round(secsAtTick(tempoMap, tick) * source.sampleRateHz);
}

/** Returns the tick at which an item ends. */
export function itemEndTick(time: SongTime, item: Item): number {
  if (item.type !== 'audio') return item.start_tick + item.length_ticks;
  const startSecs = secsAtTick(time.tempoMap, item.start_tick);
  const lengthSecs = lengthFramesOf(time, item) / sourceOfItem(time, item).sampleRateHz;
  return Math.round(tickAtSecs(time.tempoMap, startSecs + lengthSecs));
}

/** Returns the tick at which the last item of the song ends. */
export function songEndTick(time: SongTime, project: Project): number {
  let endTick = 0;
  for (const track of project.tracks) {
    for (const item of track.items) endTick = Math.max(endTick, itemEndTick(time, item));
  }
  return endTick;
}
