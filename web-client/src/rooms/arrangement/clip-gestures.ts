/** Handles pointer gestures that select, move, copy, resize and fade clips. */
import { fadeSpans, inDrawingOrder, itemSpan, LANE_PX, TITLE_PX } from '../../canvas/draw-clips';
import type { TimeView } from '../../canvas/time-view.svelte';
import { framesAtTick, itemEndTick, lengthFramesOf, sourceOfItem, type SongTime } from '../../project/audio-time';
import { setFades, trimEnd, trimStart } from '../../project/edit-audio';
import { copyClips, moveClips } from '../../project/edit-clips';
import { addMidiItem, itemId, resizeItem } from '../../project/edit-items';
import { trimMidiStart } from '../../project/edit-midi-clips';
import { snapTick, ticksPerBarAt } from '../../project/grid';
import type { AudioItem, Item, Project, Track } from '../../project/model';
import { clipLabel } from '../../state/editing/clip-commands';
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
  kind: 'move' | Exclude<ClipZone, 'body'>;
  id: string;
  item: Item;
  lane: number;
  startTick: number;
  endTick: number;
  x: number;
  y: number;
  /** Whether the press had a key that adds to the selection. */
  isAdditive: boolean;
  hasMoved: boolean;
  /** Ids of the clips that the drag moves or copies. */
  draggedIds: ReadonlySet<string>;
};

/** A rectangle that the pointer spans to select clips. */
type Marquee = { fromX: number; fromY: number; toX: number; toY: number; selectedBefore: ReadonlySet<string> };

export type LanePoint = { x: number; y: number; shiftKey: boolean; altKey: boolean; ctrlKey: boolean };
/** A rectangle in the lanes, in pixels; `top` counts from the top of the first track. */
export type LaneBox = { left: number; top: number; width: number; height: number };

export class ClipGestures {
  readonly #song: Song;
  readonly #view: TimeView;
  readonly #time: () => SongTime;
  #drag: Drag | null = null;
  /** The project when the drag started; null without a drag. */
  #base: Project | null = null;
  /** The song after the last step of the drag. */
  #last: Project | null = null;
  #marquee: Marquee | null = null;
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
    // The clip that is drawn last lies on top.
    for (const item of inDrawingOrder(track.items).toReversed()) {
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
    return x < left + EDGE_PX ? 'start' : 'body';
  }

  cursorAt(x: number, y: number): string {
    const hit = this.hit(x, y);
    if (!hit) return 'default';
    return { body: 'grab', start: 'ew-resize', end: 'ew-resize', 'fade-in': 'nesw-resize', 'fade-out': 'nwse-resize' }[hit.zone];
  }

  /**
   * Selects the clip under the pointer and starts a drag. Without a clip, starts to span a
   * rectangle that selects clips, and returns false.
   */
  press(point: LanePoint): boolean {
    const song = this.#song;
    const { selection } = song;
    const hit = this.hit(point.x, point.y);
    const isAdditive = point.ctrlKey || point.shiftKey;
    if (!hit) {
      const selectedBefore: ReadonlySet<string> = isAdditive ? selection.itemIds : new Set();
      const track = song.project.tracks[Math.floor(point.y / LANE_PX)];
      if (!isAdditive) selection.selectItem(track?.id ?? selection.trackId ?? '', null);
      this.#marquee = { fromX: point.x, fromY: point.y, toX: point.x, toY: point.y, selectedBefore };
      return false;
    }
    const id = itemId(hit.item);
    // A press on one of several selected clips keeps them, because it may start to drag them all.
    if (!isAdditive && !selection.itemIds.has(id)) selection.selectItem(hit.track.id, id);
    selection.focus = 'tracks';
    this.#base = song.project;
    this.#last = song.project;
    this.#gestureCount += 1;
    this.#drag = {
      kind: hit.zone !== 'body' ? hit.zone : 'move',
      id,
      item: hit.item,
      lane: song.project.tracks.indexOf(hit.track),
      startTick: hit.item.start_tick,
      endTick: itemEndTick(this.#time(), hit.item),
      x: point.x,
      y: point.y,
      isAdditive,
      hasMoved: false,
      draggedIds: selection.itemIds,
    };
    return true;
  }

  /** The rectangle that selects clips; null if there is none. */
  get marquee(): LaneBox | null {
    const marquee = this.#marquee;
    if (!marquee || Math.hypot(marquee.toX - marquee.fromX, marquee.toY - marquee.fromY) < DRAG_START_PX) return null;
    const { fromX, fromY, toX, toY } = marquee;
    return { left: Math.min(fromX, toX), top: Math.min(fromY, toY), width: Math.abs(toX - fromX), height: Math.abs(toY - fromY) };
  }

  move(point: LanePoint): void {
    if (this.#marquee) this.#selectIn(this.#marquee, point);
    const drag = this.#drag;
    const base = this.#base;
    if (!drag || !base) return;
    // Other edits, such as recorded notes, would be lost with the next step of the drag.
    if (this.#song.project !== this.#last) {
      this.#drag = null;
      this.#song.endGesture();
      return;
    }
    this.#moveClips(drag, base, point);
    this.#last = this.#song.project;
  }

  #moveClips(drag: Drag, base: Project, point: LanePoint): void {
    if (!drag.hasMoved && Math.hypot(point.x - drag.x, point.y - drag.y) < DRAG_START_PX) return;
    if (!drag.hasMoved) this.#startDrag(drag);
    const byTicks = (point.x - drag.x) * this.#view.ticksPerPx;
    const snap = (tick: number): number =>
      point.shiftKey ? Math.max(0, Math.round(tick)) : snapTick(base.time_signatures, tick, this.#stepTicks());
    const gesture = `clip ${this.#gestureCount}`;
    if (drag.kind !== 'move') {
      const label = drag.kind.startsWith('fade') ? 'Fade clip' : 'Resize clip';
      this.#song.edit(label, () => this.#resized(base, drag, byTicks, snap), gesture);
      return;
    }
    const { selection } = this.#song;
    const ids = drag.draggedIds;
    const lanes = Math.min(base.tracks.length - 1, Math.max(0, Math.floor(point.y / LANE_PX))) - drag.lane;
    const ticks = snap(drag.startTick + byTicks) - drag.startTick;
    if (point.altKey || point.ctrlKey) {
      // A copy exactly on its original would be heard and not seen.
      if (ticks === 0 && lanes === 0) {
        if (this.#song.project !== base && this.#song.edit(clipLabel('Copy', ids.size), () => base, gesture)) selection.selectItems(ids);
        return;
      }
      const copied = copyClips(base, ids, ticks, lanes);
      if (this.#song.edit(clipLabel('Copy', ids.size), () => copied.project, gesture)) selection.selectItems(copied.ids);
      return;
    }
    if (this.#song.edit(clipLabel('Move', ids.size), () => moveClips(base, ids, ticks, lanes), gesture)) selection.selectItems(ids);
  }

  release(): void {
    const drag = this.#drag;
    const { selection } = this.#song;
    if (drag?.hasMoved) this.#song.endGesture();
    else if (drag?.isAdditive) selection.toggleItem(drag.id);
    else if (drag) selection.selectItem(this.#song.project.tracks[drag.lane]?.id ?? '', drag.id);
    this.#drag = null;
    this.#base = null;
    this.#marquee = null;
  }

  /**
   * Selects the clip of a drag alone, unless it is among the selected clips, which move with it.
   */
  #startDrag(drag: Drag): void {
    drag.hasMoved = true;
    const { selection } = this.#song;
    const others = selection.itemIds.has(drag.id) ? [...selection.itemIds].filter((id) => id !== drag.id) : [];
    selection.selectItems(new Set([...others, drag.id]));
    drag.draggedIds = selection.itemIds;
  }

  #selectIn(marquee: Marquee, point: LanePoint): void {
    marquee.toX = point.x;
    marquee.toY = point.y;
    const box = this.marquee;
    if (!box) return;
    const ids = new Set(marquee.selectedBefore);
    this.#song.project.tracks.forEach((track, lane) => {
      if ((lane + 1) * LANE_PX < box.top || lane * LANE_PX > box.top + box.height) return;
      for (const item of track.items) {
        if (item.type === 'section') continue;
        const { left, width } = itemSpan(this.#view, this.#time(), item);
        if (left <= box.left + box.width && left + width >= box.left) ids.add(itemId(item));
      }
    });
    this.#song.selection.selectItems(ids);
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
      if (drag.kind === 'start') return trimMidiStart(base, drag.id, Math.min(snap(drag.startTick + byTicks), drag.endTick - 1));
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
