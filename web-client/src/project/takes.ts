/**
 * The takes of a track, and its comp: the clips that play pieces of the takes. A take keeps a whole
 * recording and does not play. A clip of the comp names its take in `take_id`; its start and end
 * say which piece of the take plays. The end of a clip is the border to the next one, which starts
 * up to {@link CROSSFADE_SECS} earlier, so that both fade before the border.
 */
import { framesAtTick, itemEndTick, lengthFramesOf, sourceOfItem, type SongTime } from './audio-time';
import { cutMidi } from './edit-midi-clips';
import { newId } from './ids';
import type { AudioItem, Item, MidiItem, Project, Take, Track } from './model';
import { tickAtSecs, secsAtTick } from './tempo';
import { updateTrack } from './update-track';

/** Length of the crossfade between two takes, in seconds. */
export const CROSSFADE_SECS = 0.01;
/** Maximum number of takes of a track, which the project schema allows. */
export const TAKES_MAX = 1000;

/** A range of the song, from `startTick` up to, but not including, `endTick`. */
export type TickRange = { startTick: number; endTick: number };

/** A piece of the comp: the range in which a take plays, and the clip that plays it. */
export type CompPiece = TickRange & { takeId: string; item: Take };

export function takesOf(track: Track): readonly Take[] {
  return track.takes ?? [];
}

/** Returns the range of the song to which a take belongs. */
export function rangeOfTake(time: SongTime, take: Take): TickRange {
  return { startTick: take.start_tick, endTick: itemEndTick(time, take) };
}

/**
 * Returns the pieces of a track's comp by ascending start. A clip that lies outside its take, such
 * as a copy elsewhere, or that repeats its file is an ordinary clip.
 */
export function compOf(track: Track, time: SongTime): CompPiece[] {
  const takes = new Map(takesOf(track).map((take) => [take.id, take]));
  const pieces: CompPiece[] = [];
  const items = track.items.filter((item): item is Take => item.type !== 'section' && item.take_id !== undefined && takes.has(item.take_id));
  for (const item of items.sort((a, b) => a.start_tick - b.start_tick)) {
    const takeId = item.take_id ?? '';
    const take = takes.get(takeId);
    if (!take || (item.type === 'audio' && item.loop)) continue;
    const takeRange = rangeOfTake(time, take);
    const own = { startTick: item.start_tick, endTick: itemEndTick(time, item) };
    // Ends of audio are rounded to ticks.
    if (own.startTick < takeRange.startTick || own.endTick > takeRange.endTick + 1) continue;
    const startTick = Math.max(own.startTick, pieces.at(-1)?.endTick ?? 0);
    if (startTick < own.endTick) pieces.push({ takeId, startTick, endTick: own.endTick, item });
  }
  return pieces;
}

/** Returns the piece of the comp that plays at a tick; null if none does. */
export function pieceAt(pieces: readonly CompPiece[], tick: number): CompPiece | null {
  return pieces.find(({ startTick, endTick }) => startTick <= tick && tick < endTick) ?? null;
}

/** Returns the name of the next take of a track: `Take` and a number. */
export function nextTakeNumber(track: Track): number {
  return 1 + Math.max(0, ...takesOf(track).map(({ name }) => Number(/^Take (\d+)$/.exec(name ?? '')?.[1] ?? 0)));
}

/**
 * Adds takes to a track and names them. If the track has no room for all, the first ones are left
 * out.
 */
export function addTakes(project: Project, trackId: string, takes: readonly Take[]): Project {
  return updateTrack(project, trackId, (track) => {
    const known = takesOf(track);
    const room = TAKES_MAX - known.length;
    const first = nextTakeNumber(track);
    const added = (room > 0 ? takes.slice(-room) : []).map((take, index) => ({ ...take, name: `Take ${first + index}` }));
    return { ...track, takes: [...known, ...added] };
  });
}

/** Removes a take. The clips of the comp that play it stay, as ordinary clips. */
export function removeTake(project: Project, trackId: string, takeId: string): Project {
  return withoutTakes(project, trackId, (id) => id === takeId);
}

/** Removes all takes of a track. The clips of its comp stay, as ordinary clips. */
export function flattenTakes(project: Project, trackId: string): Project {
  return withoutTakes(project, trackId, () => true);
}

function withoutTakes(project: Project, trackId: string, isRemoved: (takeId: string) => boolean): Project {
  return updateTrack(project, trackId, ({ takes = [], ...track }) => {
    const kept = takes.filter(({ id }) => !isRemoved(id));
    const items = track.items.map((item): Item => {
      if (item.type === 'section' || item.take_id === undefined || !isRemoved(item.take_id)) return item;
      const { take_id: _takeId, ...ordinary } = item;
      return ordinary;
    });
    return { ...track, items, ...(kept.length > 0 ? { takes: kept } : {}) };
  });
}

/**
 * Makes a take play in a range instead of the takes that played there; null for silence. Only the
 * part of the range in which the take has sound changes. Clips that do not belong to the comp stay.
 */
export function chooseTake(project: Project, time: SongTime, trackId: string, takeId: string | null, range: TickRange): Project {
  const track = project.tracks.find(({ id }) => id === trackId);
  const take = track && takesOf(track).find(({ id }) => id === takeId);
  if (!track || (takeId !== null && !take)) return project;
  const limits = take ? rangeOfTake(time, take) : { startTick: 0, endTick: Infinity };
  let startTick = Math.max(Math.round(range.startTick), limits.startTick);
  let endTick = Math.min(Math.round(range.endTick), limits.endTick);
  if (startTick >= endTick) return project;
  const pieces = compOf(track, time);
  if (pieces.some((piece) => piece.takeId === takeId && piece.startTick <= startTick && piece.endTick >= endTick)) return project;
  // The piece joins the pieces of the same take that it touches, and keeps their level.
  const joined = pieces.filter((piece) => piece.takeId === takeId && piece.startTick <= endTick && piece.endTick >= startTick);
  startTick = Math.min(startTick, ...joined.map((piece) => piece.startTick));
  endTick = Math.max(endTick, ...joined.map((piece) => piece.endTick));
  const changed: CompPiece[] = [];
  for (const piece of pieces) {
    if (piece.startTick < startTick) changed.push({ ...piece, endTick: Math.min(piece.endTick, startTick) });
    if (piece.endTick > endTick) {
      const isSplit = piece.startTick < startTick;
      changed.push({ ...piece, startTick: Math.max(piece.startTick, endTick), item: isSplit ? { ...piece.item, id: newId('item') } : piece.item });
    }
  }
  if (take) changed.push({ takeId: take.id, startTick, endTick, item: clipOfTake(take, joined[0]?.item) });
  changed.sort((a, b) => a.startTick - b.startTick);
  const removed = new Set<Item>(pieces.map(({ item }) => item));
  const items = changed.map((piece, index) => {
    const [before, after] = [changed[index - 1], changed[index + 1]];
    const touches = [piece.startTick, piece.endTick].some((tick) => tick === startTick || tick === endTick);
    return touches ? fitted(time, piece, before, after, takesOf(track)) : piece.item;
  });
  if (items.length === removed.size && items.every((item) => removed.has(item))) return project;
  return updateTrack(project, trackId, (current) => ({ ...current, items: [...current.items.filter((item) => !removed.has(item)), ...items] }));
}

/** Returns a clip that plays a whole take, with the level of another clip of the take. */
function clipOfTake(take: Take, like: Take | undefined): Take {
  const clip = { ...take, id: newId('item'), take_id: take.id };
  return clip.type === 'audio' && like?.type === 'audio' && like.gain_db !== undefined ? { ...clip, gain_db: like.gain_db } : clip;
}

/** Returns the clip of a piece with its start, its end and the fades to its neighbours. */
function fitted(time: SongTime, piece: CompPiece, before: CompPiece | undefined, after: CompPiece | undefined, takes: readonly Take[]): Take {
  const take = takes.find(({ id }) => id === piece.takeId);
  if (!take) return piece.item;
  if (piece.item.type === 'midi') {
    const source: MidiItem = covers(piece.item, piece) || take.type !== 'midi' ? piece.item : { ...take, id: piece.item.id, take_id: take.id };
    return cutMidi(source, piece.startTick, piece.endTick);
  }
  const entry = fadeStart(time, piece, before, take);
  const exit = after ? fadeStart(time, after, piece, takes.find(({ id }) => id === after.takeId)) : null;
  return cutAudio(time, piece.item, take, { ...piece, entryTick: entry, exitTick: exit });
}

const covers = (item: MidiItem, { startTick, endTick }: TickRange): boolean =>
  item.start_tick <= startTick && item.start_tick + item.length_ticks >= endTick;

/**
 * Returns the tick at which the clip of a piece starts to fade in over the end of the piece before
 * it. It is the start of the piece if there is none, or if the take has no sound before.
 */
function fadeStart({ tempoMap }: SongTime, piece: CompPiece, before: CompPiece | undefined, take: Take | undefined): number {
  if (!before || !take || before.endTick !== piece.startTick || piece.item.type !== 'audio' || before.item.type !== 'audio') return piece.startTick;
  const earliest = Math.max(take.start_tick, (before.startTick + before.endTick) / 2);
  const tick = tickAtSecs(tempoMap, secsAtTick(tempoMap, piece.startTick) - CROSSFADE_SECS);
  return Math.min(piece.startTick, Math.ceil(Math.max(earliest, tick)));
}

/** The range of an audio clip, where it starts to fade in, and where the next clip does. */
type AudioRange = TickRange & { entryTick: number; exitTick: number | null };

function cutAudio(time: SongTime, item: AudioItem, take: Take, { startTick, endTick, entryTick, exitTick }: AudioRange): AudioItem {
  const source = sourceOfItem(time, item);
  const frames = (tick: number): number => framesAtTick(time, source, tick);
  const offset = Math.max(0, (item.offset_frames ?? 0) + frames(entryTick) - frames(item.start_tick));
  const takeEnd = take.type === 'audio' && !item.processing ? (take.offset_frames ?? 0) + lengthFramesOf(time, take) : source.frames;
  const length = Math.max(1, Math.min(frames(endTick) - frames(entryTick), takeEnd - offset));
  const shortFade = Math.min(Math.round(CROSSFADE_SECS * source.sampleRateHz), Math.floor(length / 2));
  // At its own start, a take keeps its attack; where the comp cuts it, it fades.
  const fadeIn = entryTick < startTick ? frames(startTick) - frames(entryTick) : startTick > take.start_tick ? shortFade : 0;
  const fadeOut = exitTick !== null && exitTick < endTick ? frames(endTick) - frames(exitTick) : shortFade;
  return {
    ...item,
    start_tick: entryTick,
    offset_frames: offset,
    length_frames: length,
    fades: { ...item.fades, in_frames: Math.min(fadeIn, length), out_frames: Math.min(fadeOut, length) },
  };
}
