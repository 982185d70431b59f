/** Where items end, audio included, whose length counts frames of its source. */
import type { AudioItem, Item, Project, TempoPoint } from './model';
import { secsAtTick, tickAtSecs } from './tempo';

/** What is known of an audio file. */
export type AudioSourceInfo = { sampleRateHz: number; frames: number };

/** What it takes to place items in time. `sourceOf` answers null for files that are not known (yet). */
export type SongTime = { tempoMap: readonly TempoPoint[]; sourceOf: (fileId: string) => AudioSourceInfo | null };

/** How a file counts until something is known of it: four seconds at 48 kHz. */
const UNKNOWN_SOURCE: AudioSourceInfo = { sampleRateHz: 48_000, frames: 4 * 48_000 };

/** The service's id of the file that an item plays; null when it names none. */
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

/** Frames of a source from the start of the song to a tick, whole as the engine counts them. */
export function framesAtTick({ tempoMap }: SongTime, source: AudioSourceInfo, tick: number): number {
  return Math.round(secsAtTick(tempoMap, tick) * source.sampleRateHz);
}

/** Where an item ends, in ticks. */
export function itemEndTick(time: SongTime, item: Item): number {
  if (item.type !== 'audio') return item.start_tick + item.length_ticks;
  const startSecs = secsAtTick(time.tempoMap, item.start_tick);
  const lengthSecs = lengthFramesOf(time, item) / sourceOfItem(time, item).sampleRateHz;
  return Math.round(tickAtSecs(time.tempoMap, startSecs + lengthSecs));
}

/** Where the last item of the song ends, in ticks. */
export function songEndTick(time: SongTime, project: Project): number {
  let end = 0;
  for (const track of project.tracks) {
    for (const item of track.items) end = Math.max(end, itemEndTick(time, item));
  }
  return end;
}
