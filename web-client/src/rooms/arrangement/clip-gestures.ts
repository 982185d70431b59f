/** What the pointer does on the lanes: choosing, moving, copying and resizing clips. */
import { itemSpan, LANE_PX } from '../../canvas/draw-clips';
import type { TimeView } from '../../canvas/time-view.svelte';
import { addMidiItem, copyOfItem, itemId, itemLengthTicks, moveItem, resizeItem } from '../../project/edit-items';
import { updateTrack } from '../../project/update-track';
import { snapTick, ticksPerBarAt } from '../../project/grid';
import type { Item, Project, Track } from '../../project/model';
import type { Song } from '../../state/song.svelte';

/** Width of the edge by which a clip is resized, in pixels. */
const EDGE_PX = 7;
/** How far the pointer moves before a press becomes a drag, in pixels. */
const SLACK_PX = 3;

export type ClipHit = { track: Track; item: Item; edge: boolean };

type Drag = {
  kind: 'move' | 'resize' | 'copy';
  id: string;
  trackId: string;
  startTick: number;
  lengthTicks: number;
  x: number;
  y: number;
  moved: boolean;
};

export type LanePoint = { x: number; y: number; shiftKey: boolean; altKey: boolean };

export class ClipGestures {
  readonly #song: Song;
  readonly #view: TimeView;
  #drag: Drag | null = null;
  #base: Project | null = null;
  #gesture = 0;

  constructor(song: Song, view: TimeView) {
    this.#song = song;
    this.#view = view;
  }

  /** The clip at a point; `y` counts from the top of the first lane. */
  hit(x: number, y: number): ClipHit | null {
    const track = this.#song.project.tracks[Math.floor(y / LANE_PX)];
    if (!track) return null;
    for (const item of track.items.toReversed()) {
      if (item.type === 'section') continue;
      const { left, width } = itemSpan(this.#view, item);
      if (x < left || x > left + width) continue;
      return { track, item, edge: item.type !== 'audio' && width > 3 * EDGE_PX && x > left + width - EDGE_PX };
    }
    return null;
  }

  cursorAt(x: number, y: number): string {
    const hit = this.hit(x, y);
    if (!hit) return 'default';
    return hit.edge ? 'ew-resize' : 'grab';
  }

  /** Answers whether a clip was hit; if not, the press is free to mean something else. */
  press(point: LanePoint): boolean {
    const song = this.#song;
    const hit = this.hit(point.x, point.y);
    if (!hit) {
      const track = song.project.tracks[Math.floor(point.y / LANE_PX)];
      song.selectItem(track?.id ?? song.selectedTrackId ?? '', null);
      return false;
    }
    const id = itemId(hit.item);
    song.selectItem(hit.track.id, id);
    this.#base = song.project;
    this.#gesture += 1;
    this.#drag = {
      kind: hit.edge ? 'resize' : point.altKey ? 'copy' : 'move',
      id,
      trackId: hit.track.id,
      startTick: hit.item.start_tick,
      lengthTicks: itemLengthTicks(hit.item),
      x: point.x,
      y: point.y,
      moved: false,
    };
    return true;
  }

  move(point: LanePoint): void {
    const drag = this.#drag;
    const base = this.#base;
    if (!drag || !base) return;
    if (!drag.moved && Math.hypot(point.x - drag.x, point.y - drag.y) < SLACK_PX) return;
    drag.moved = true;
    const byTicks = (point.x - drag.x) * this.#view.ticksPerPx;
    const snap = (tick: number): number =>
      point.shiftKey ? Math.max(0, Math.round(tick)) : snapTick(base.time_signatures, tick, this.#stepTicks());
    const gesture = `clip ${this.#gesture}`;
    if (drag.kind === 'resize') {
      const end = snap(drag.startTick + drag.lengthTicks + byTicks);
      const length = Math.max(this.#stepTicks(), end - drag.startTick);
      this.#song.edit('Resize clip', () => resizeItem(base, drag.id, length), gesture);
      return;
    }
    const lane = Math.min(base.tracks.length - 1, Math.max(0, Math.floor(point.y / LANE_PX)));
    const target = base.tracks[lane]?.id ?? drag.trackId;
    const start = snap(drag.startTick + byTicks);
    if (drag.kind === 'copy') {
      this.#song.edit('Copy clip', () => copied(base, drag, start, target), gesture);
      return;
    }
    this.#song.edit('Move clip', () => moveItem(base, drag.id, start, target), gesture);
    this.#song.selectedTrackId = target;
  }

  release(): void {
    if (this.#drag?.moved) this.#song.endGesture();
    this.#drag = null;
    this.#base = null;
  }

  /** A new clip, one bar long, where there is none. */
  create(point: LanePoint): void {
    const { project } = this.#song;
    const track = project.tracks[Math.floor(point.y / LANE_PX)];
    if (!track || track.kind !== 'instrument' || this.hit(point.x, point.y)) return;
    const tick = this.#view.tick(point.x);
    const bar = ticksPerBarAt(project.time_signatures, tick);
    const made = addMidiItem(project, track.id, snapTick(project.time_signatures, tick, bar, 'down'), bar);
    this.#song.edit('Add clip', () => made.project);
    this.#song.selectItem(track.id, made.itemId);
  }

  /** Clips snap to beats when they are large enough to see, else to bars. */
  #stepTicks(): number {
    return this.#view.ticksPerPx > 120 ? 3840 : 960;
  }
}

function copied(base: Project, drag: Drag, startTick: number, trackId: string): Project {
  const item = base.tracks.find((track) => track.id === drag.trackId)?.items.find((candidate) => itemId(candidate) === drag.id);
  if (!item) return base;
  return updateTrack(base, trackId, (track) => ({
    ...track,
    items: [...track.items, { ...copyOfItem(item), start_tick: startTick }],
  }));
}
