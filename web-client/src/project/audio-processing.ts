/**
 * Processed audio clips: clips whose file the service made from a piece of another file. The field
 * `processing` of a clip has the piece and the operations, so that they can be changed or taken
 * back.
 */
import { lengthFramesOf, fileIdOf, sourceOfItem, type SongTime } from './audio-time';
import { changeAudio } from './edit-audio';
import { findItem } from './edit-items';
import { barPositionAt, tickOfBarPosition } from './grid';
import type { AudioItem, AudioProcessing, Project } from './model';
import { secsAtTick } from './tempo';

/** The operations of the service on a piece, in this order. */
export type Operations = {
  reverse: boolean;
  /** Length of the processed audio divided by the length of the piece, 0.25 to 4. */
  stretch: number;
  /** Change of pitch in cents, -2400 to 2400. */
  pitch_cents: number;
  /** The level that the processed audio gets; null to keep the gain. */
  normalize: { measure: 'peak' | 'loudness'; level_db: number } | null;
};

/** A piece of an audio file, in frames of the file. */
export type Piece = { fileId: string; startFrame: number; lengthFrames: number };

export const STRETCH_MIN = 0.25;
export const STRETCH_MAX = 4;
export const PITCH_MAX_CENTS = 2400;

export const NO_OPERATIONS: Operations = { reverse: false, stretch: 1, pitch_cents: 0, normalize: null };

/** Returns the operations of a clip. */
export function operationsOf({ processing }: AudioItem): Operations {
  if (!processing) return NO_OPERATIONS;
  const { reverse = false, stretch = 1, pitch_cents = 0, normalize } = processing;
  return { reverse, stretch, pitch_cents, normalize: normalize ? { measure: normalize.measure, level_db: normalize.level_db } : null };
}

export function areEqualOperations(a: Operations, b: Operations): boolean {
  return (
    a.reverse === b.reverse &&
    a.stretch === b.stretch &&
    a.pitch_cents === b.pitch_cents &&
    a.normalize?.measure === b.normalize?.measure &&
    a.normalize?.level_db === b.normalize?.level_db
  );
}

/**
 * Returns the piece of the unprocessed file to which the operations of a clip apply: the stored
 * piece of a processed clip, the whole file of a loop, and otherwise the part that the clip plays.
 * Null if the clip has no file.
 */
export function pieceOf(time: SongTime, item: AudioItem): Piece | null {
  if (item.processing) {
    const { server_file_id: fileId, start_frame: startFrame, length_frames: lengthFrames } = item.processing;
    return { fileId, startFrame, lengthFrames };
  }
  const fileId = fileIdOf(item);
  if (fileId === null) return null;
  const { frames } = sourceOfItem(time, item);
  if (item.loop) return { fileId, startFrame: 0, lengthFrames: frames };
  const startFrame = item.offset_frames ?? 0;
  return { fileId, startFrame, lengthFrames: Math.max(1, Math.min(lengthFramesOf(time, item), frames - startFrame)) };
}

/**
 * Makes a clip play `copyId`, the file that the service made from `piece` with `operations`. The
 * clip plays the same part of the piece as before.
 */
export function withProcessedFile(
  project: Project,
  time: SongTime,
  item: AudioItem,
  piece: Piece,
  operations: Operations,
  copyId: string,
): Project {
  const { normalize, ...remainingOperations } = operations;
  const processing: AudioProcessing = {
    server_file_id: piece.fileId,
    start_frame: piece.startFrame,
    length_frames: piece.lengthFrames,
    ...remainingOperations,
    ...(normalize ? { normalize } : {}),
  };
  const part = partOfPiece(time, item, piece);
  const copyFrames = Math.max(1, Math.round(piece.lengthFrames * operations.stretch));
  const start = operations.reverse ? piece.lengthFrames - part.end : part.start;
  const offset = item.loop ? 0 : Math.min(copyFrames - 1, Math.max(0, Math.round(start * operations.stretch)));
  const length = Math.max(1, Math.round((part.end - part.start) * operations.stretch));
  return replaceFile(project, time, item, copyId, operations.stretch, {
    processing,
    offset_frames: offset,
    length_frames: item.loop ? length : Math.min(copyFrames - offset, length),
  });
}

/** Makes a processed clip play its part of the unprocessed file. */
export function withoutProcessing(project: Project, time: SongTime, item: AudioItem): Project {
  const piece = pieceOf(time, item);
  if (!item.processing || !piece) return project;
  const part = partOfPiece(time, item, piece);
  return replaceFile(project, time, item, piece.fileId, 1, {
    offset_frames: item.loop ? 0 : Math.round(piece.startFrame + part.start),
    length_frames: Math.max(1, Math.round(part.end - part.start)),
  });
}

/** Returns the part of the piece that a clip plays, in frames of the unprocessed file. */
function partOfPiece(time: SongTime, item: AudioItem, piece: Piece): { start: number; end: number } {
  const { stretch, reverse } = operationsOf(item);
  const length = lengthFramesOf(time, item) / stretch;
  if (item.loop) return { start: 0, end: length };
  const offset = item.processing ? (item.offset_frames ?? 0) / stretch : (item.offset_frames ?? 0) - piece.startFrame;
  const start = reverse ? piece.lengthFrames - offset - length : offset;
  // A clip that was extended while the service worked is longer than the piece.
  const clamp = (frame: number): number => Math.min(piece.lengthFrames, Math.max(0, frame));
  return { start: clamp(start), end: clamp(start + length) };
}

/** Replaces the file of a clip, and scales its fades. */
function replaceFile(
  project: Project,
  time: SongTime,
  item: AudioItem,
  fileId: string,
  stretch: number,
  change: Partial<AudioItem>,
): Project {
  const ratio = stretch / operationsOf(item).stretch;
  const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
  const replacedClip = changeAudio(project, time, item.id, {
    ...change,
    source: { ...item.source, server_file_id: fileId },
    ...(item.server_file_id === undefined ? {} : { server_file_id: fileId }),
    fades: { ...item.fades, in_frames: Math.round(fadeIn * ratio), out_frames: Math.round(fadeOut * ratio) },
  });
  return change.processing ? withoutField(replacedClip, item.id, ['audio_file_url']) : withoutField(replacedClip, item.id, ['processing', 'audio_file_url']);
}

/** Removes fields of an audio clip. */
function withoutField(project: Project, id: string, names: readonly (keyof AudioItem)[]): Project {
  const foundItem = findItem(project, id);
  if (foundItem?.item.type !== 'audio') return project;
  const item = { ...foundItem.item };
  for (const name of names) delete item[name];
  return {
    ...project,
    tracks: project.tracks.map((track) =>
      track === foundItem.track ? { ...track, items: track.items.map((candidate) => (candidate === foundItem.item ? item : candidate)) } : track,
    ),
  };
}

/**
 * Returns the stretch with which the part that a clip plays lasts whole bars at the tempo of the
 * song: the number of bars that is nearest to its unstretched length. Null if no permitted stretch
 * does.
 */
export function stretchToBars(project: Project, time: SongTime, item: AudioItem): { stretch: number; bars: number } | null {
  const secs = lengthFramesOf(time, item) / operationsOf(item).stretch / sourceOfItem(time, item).sampleRateHz;
  const { time_signatures: signatures, tempo_map: tempoMap } = project;
  const from = barPositionAt(signatures, item.start_tick);
  const startSecs = secsAtTick(tempoMap, item.start_tick);
  const secsOfBars = (bars: number): number =>
    secsAtTick(tempoMap, tickOfBarPosition(signatures, { ...from, bar: from.bar + bars })) - startSecs;
  let bars = 1;
  while (bars < BARS_MAX && Math.abs(secsOfBars(bars + 1) - secs) < Math.abs(secsOfBars(bars) - secs)) bars += 1;
  const stretch = secsOfBars(bars) / secs;
  return stretch >= STRETCH_MIN && stretch <= STRETCH_MAX ? { stretch, bars } : null;
}

/** Highest number of bars of {@link stretchToBars}. */
const BARS_MAX = 1000;
