/** Handles pointer gestures that select, move, copy, resize and fade clips. */
import { fadeSpans, itemSpan, LANE_PX, TITLE_PX } from '../../canvas/draw-clips';
import type { TimeView } from '../../canvas/time-view.svelte';
import { framesAtTick, itemEndTick, lengthFramesOf, sourceOfItem, type SongTime } from '../../project/audio-time';
import { setFades, trimEnd, trimStart } from '../../project/edit-audio';
import { addMidiItem, canHold, copyOfItem, itemId, moveItem, resizeItem } from '../../project/edit-items';
import { updateTrack } from '../../project/update-track';
import { snapTick, ticksPerBarAt } from '../../project/grid';
import type { AudioItem, Item, Project, Track } from '../../project/model';
import type { Song } from '../../state/editing/song.svelte';

/** Width of the zone at each end of a clip in which a drag resizes the clip, in pixels. */
const EDGE_PX = 7;
/** Movement of the pointer after which a press becomes a drag, in pixels. */
const DRAG_START_PX = 3;

/** Maximum distance at which the pointer grabs the handle of a fade, in pixels. */
const FADE_REACH_PX = 8;

/** The part of a clip under the pointer. */
export type ClipZone = 'body' | 'start' | 'end' | 'fade-in' | 'fade-out';

export type ClipHit = { track: Track; item: Item; zone: ClipZone };

type Drag = {
  kind: 'move' | 'copy' | Exclude<ClipZone, 'body'>;
  id: string;
  item: Item;
  trackId: string;
  startTick: number;
  endTick: number;
  x: number;
  y: number;
  hasMoved: boolean;
};

export type LanePoint = { x: number; y: number; shiftKey: boolean; altKey: boolean };

export class ClipGestures {
  readonly #song: Song;
  readonly #view: TimeView;
  readonly #time: () => SongTime;
  #drag: Drag | null = null;
  /** The project when the drag started; null without a drag. */
  #base: Project | null = null;
  #gestureCount = 0;

  constructor(song: Song, view: TimeView, time: () => SongTime) {
    this.#song = song;
    this.#view = view;
    this.#time = time;
  }

  /** Returns the clip at a point, or null; `y` is the distance from the top of the first track. */
  hit(x: number, y: number): ClipHit | null {
    const track = this.#song.project.tracks[Math.floor(y / LANE_PX)];
    if (!track) return null;
    for (const item of track.items.toReversed()) {
      if (item.type === 'section') continue;
      const { left, width } = itemSpan(this.#view, this.#time(), item);
      if (x < left || x > left + width) continue;
      return { track, item, zone: this.#zoneOf(item, { left, width }, x, y % LANE_PX) };
    }
    return null;
  }

  #zoneOf(item: Item, { left, width }: { left: number; width: number }, x: number, yInLane: number): ClipZone {
    if (width <= 3 * EDGE_PX) return 'body';
    if (item.type === 'audio' && yInLane < TITLE_PX + FADE_REACH_PX) {
      const fades = fadeSpans(this.#time(), item, width);
      // The handle of a fade without length is `EDGE_PX` inside the clip, beside the clip's edge.
      if (Math.abs(x - left - Math.max(fades.in, EDGE_PX)) < FADE_REACH_PX) return 'fade-in';
      if (Math.abs(x - left - width + Math.max(fades.out, EDGE_PX)) < FADE_REACH_PX) return 'fade-out';
    }
    if (x > left + width - EDGE_PX) return 'end';
    return item.type === 'audio' && x < left + EDGE_PX ? 'start' : 'body';
  }

  cursorAt(x: number, y: number): string {
    const hit = this.hit(x, y);
    if (!hit) return 'default';
    return { body: 'grab', start: 'ew-resize', end: 'ew-resize', 'fade-in': 'nesw-resize', 'fade-out': 'nwse-resize' }[hit.zone];
  }

  /** Selects the clip under the pointer and starts a drag. Returns false if there is no clip. */
  press(point: LanePoint): boolean {
    const song = this.#song;
    const hit = this.hit(point.x, point.y);
    if (!hit) {
      const track = song.project.tracks[Math.floor(point.y / LANE_PX)];
      song.selection.selectItem(track?.id ?? song.selection.trackId ?? '', null);
      return false;
    }
    const id = itemId(hit.item);
    song.selection.selectItem(hit.track.id, id);
    this.#base = song.project;
    this.#gestureCount += 1;
    this.#drag = {
      kind: hit.zone !== 'body' ? hit.zone : point.altKey ? 'copy' : 'move',
      id,
      item: hit.item,
      trackId: hit.track.id,
      startTick: hit.item.start_tick,
      endTick: itemEndTick(this.#time(), hit.item),
      x: point.x,
      y: point.y,
      hasMoved: false,
    };
    return true;
  }

  move(point: LanePoint): void {
    const drag = this.#drag;
    const base = this.#base;
    if (!drag || !base) return;
    if (!drag.hasMoved && Math.hypot(point.x - drag.x, point.y - drag.y) < DRAG_START_PX) return;
    drag.hasMoved = true;
    const byTicks = (point.x - drag.x) * this.#view.ticksPerPx;
    const snap = (tick: number): number =>
      point.shiftKey ? Math.max(0, Math.round(tick)) : snapTick(base.time_signatures, tick, this.#stepTicks());
    const gesture = `clip ${this.#gestureCount}`;
    if (drag.kind !== 'move' && drag.kind !== 'copy') {
      const label = drag.kind.startsWith('fade') ? 'Fade clip' : 'Resize clip';
      this.#song.edit(label, () => this.#resized(base, drag, byTicks, snap), gesture);
      return;
    }
    const lane = Math.min(base.tracks.length - 1, Math.max(0, Math.floor(point.y / LANE_PX)));
    const trackUnderPointer = base.tracks[lane];
    const targetId = trackUnderPointer && canHold(trackUnderPointer.kind, drag.item) ? trackUnderPointer.id : drag.trackId;
    const startTick = snap(drag.startTick + byTicks);
    if (drag.kind === 'copy') {
      this.#song.edit('Copy clip', () => withCopy(base, drag, startTick, targetId), gesture);
      return;
    }
    const isDone = this.#song.edit('Move clip', () => moveItem(base, drag.id, startTick, targetId), gesture);
    if (isDone) this.#song.selection.trackId = targetId;
  }

  release(): void {
    if (this.#drag?.hasMoved) this.#song.endGesture();
    this.#drag = null;
    this.#base = null;
  }

  /** Adds a clip of one bar to an instrument track, unless there is a clip at the point. */
  create(point: LanePoint): void {
    const { project } = this.#song;
    const track = project.tracks[Math.floor(point.y / LANE_PX)];
    if (!track || track.kind !== 'instrument' || this.hit(point.x, point.y)) return;
    const tick = this.#view.tick(point.x);
    const barTicks = ticksPerBarAt(project.time_signatures, tick);
    const added = addMidiItem(project, track.id, snapTick(project.time_signatures, tick, barTicks, 'down'), barTicks);
    if (this.#song.edit('Add clip', () => added.project)) this.#song.selection.selectItem(track.id, added.itemId);
  }

  #resized(base: Project, drag: Drag, byTicks: number, snap: (tick: number) => number): Project {
    const { item } = drag;
    if (item.type !== 'audio') {
      const lengthTicks = Math.max(this.#stepTicks(), snap(drag.endTick + byTicks) - drag.startTick);
      return resizeItem(base, drag.id, lengthTicks);
    }
    if (drag.kind === 'start') return trimStart(base, this.#time(), item, snap(drag.startTick + byTicks));
    if (drag.kind === 'end') return trimEnd(base, this.#time(), item, snap(drag.endTick + byTicks));
    return this.#faded(base, drag, item, byTicks);
  }

  /** Changes the length of a fade by the movement of the pointer, without snapping to the grid. */
  #faded(base: Project, drag: Drag, item: AudioItem, byTicks: number): Project {
    const time = this.#time();
    const source = sourceOfItem(time, item);
    const lengthFrames = lengthFramesOf(time, item);
    const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
    const framesBetween = (startTick: number, endTick: number): number => framesAtTick(time, source, endTick) - framesAtTick(time, source, startTick);
    if (drag.kind === 'fade-in') {
      const frames = fadeIn + framesBetween(drag.startTick, drag.startTick + byTicks);
      return setFades(base, time, item, { in_frames: Math.min(lengthFrames, frames) });
    }
    const frames = fadeOut - framesBetween(drag.endTick, drag.endTick + byTicks);
    return setFades(base, time, item, { out_frames: Math.min(lengthFrames, frames) });
  }

  /** Returns the grid step of clips: a quarter note, or a whole note if the view is zoomed out. */
  #stepTicks(): number {
    return this.#view.ticksPerPx > 120 ? 3840 : 960;
  }
}

function withCopy(base: Project, drag: Drag, startTick: number, trackId: string): Project {
  const item = base.tracks.find((track) => track.id === drag.trackId)?.items.find((candidate) => itemId(candidate) === drag.id);
  if (!item) return base;
  return updateTrack(base, trackId, (track) => ({
    ...track,
    items: [...track.items, { ...copyOfItem(item), start_tick: startTick }],
  }));
}
