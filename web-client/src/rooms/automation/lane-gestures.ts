/** Handles pointer gestures that add and move automation points and bend segments. */
import { valueAtY, yOfValue } from '../../canvas/draw-automation';
import type { TimeView } from '../../canvas/time-view.svelte';
import { curvatureThrough, insertPoint, movePoint, setCurve, timeBetween } from '../../project/automation';
import type { AutomationTarget } from '../../project/automation-targets';
import { snapTick } from '../../project/grid';
import type { AutomationPoint } from '../../project/model';
import type { AutomationCommands } from '../../state/editing/automation-commands.svelte';
import type { Song } from '../../state/editing/song.svelte';

/** Maximum distance at which the pointer grabs a point, in pixels. */
const REACH_PX = 8;
/** Movement of the pointer after which a press becomes a drag, in pixels. */
const DRAG_START_PX = 3;

export type LanePointer = { x: number; y: number; heightPx: number; shiftKey: boolean; altKey: boolean };

type Drag = {
  kind: 'move' | 'bend';
  index: number;
  /** The points and the pointer when the drag started. */
  base: readonly AutomationPoint[];
  start: LanePointer;
  hasMoved: boolean;
  gesture: string;
};

let gestureCount = 0;

export class LaneGestures {
  readonly #song: Song;
  readonly #commands: AutomationCommands;
  readonly #view: TimeView;
  readonly #stepTicks: () => number;
  readonly #lane: () => { channelId: string; target: AutomationTarget };
  #drag: Drag | null = null;
  /** Whether the last press added a point. */
  #justAdded = false;

  constructor(
    song: Song,
    commands: AutomationCommands,
    view: TimeView,
    stepTicks: () => number,
    lane: () => { channelId: string; target: AutomationTarget },
  ) {
    this.#song = song;
    this.#commands = commands;
    this.#view = view;
    this.#stepTicks = stepTicks;
    this.#lane = lane;
  }

  /** Returns the index of the nearest point that the pointer can grab; null if there is none. */
  pointAt({ x, y, heightPx }: LanePointer): number | null {
    const { target } = this.#lane();
    let nearestIndex: number | null = null;
    let nearestDistance = REACH_PX;
    this.#points().forEach((point, index) => {
      const distance = Math.hypot(this.#view.x(point.tick) - x, yOfValue(target, point.value, heightPx) - y);
      if (distance > nearestDistance) return;
      nearestDistance = distance;
      nearestIndex = index;
    });
    return nearestIndex;
  }

  cursorAt(pointer: LanePointer): string {
    if (this.pointAt(pointer) !== null) return 'grab';
    return pointer.altKey && this.#segmentAt(pointer) !== null ? 'ns-resize' : 'crosshair';
  }

  press(pointer: LanePointer): void {
    const { channelId, target } = this.#lane();
    gestureCount += 1;
    const gesture = `automation ${gestureCount}`;
    const drag = { base: this.#points(), start: pointer, hasMoved: false, gesture };
    const hit = this.pointAt(pointer);
    this.#justAdded = false;
    if (hit !== null) {
      this.#commands.select({ channelId, target: target.target, index: hit });
      this.#drag = { kind: 'move', index: hit, ...drag };
      return;
    }
    const segment = pointer.altKey ? this.#segmentAt(pointer) : null;
    if (segment !== null) {
      this.#commands.select({ channelId, target: target.target, index: segment });
      this.#drag = { kind: 'bend', index: segment, ...drag };
      return;
    }
    const point: AutomationPoint = {
      tick: this.#tickAt(pointer),
      value: valueAtY(target, pointer.y, pointer.heightPx),
      curve: target.isStepped ? 'step' : 'linear',
    };
    const addedPoint = insertPoint(drag.base, point);
    if (!this.#commands.setPoints('Add point', channelId, target.target, addedPoint.points, gesture)) return;
    this.#commands.select({ channelId, target: target.target, index: addedPoint.index });
    this.#drag = { kind: 'move', index: addedPoint.index, ...drag, base: addedPoint.points };
    this.#justAdded = true;
  }

  move(pointer: LanePointer): void {
    const drag = this.#drag;
    if (!drag) return;
    if (!drag.hasMoved && Math.hypot(pointer.x - drag.start.x, pointer.y - drag.start.y) < DRAG_START_PX) return;
    drag.hasMoved = true;
    const { channelId, target } = this.#lane();
    if (drag.kind === 'bend') {
      this.#commands.setPoints('Bend curve', channelId, target.target, this.#bent(drag, pointer), drag.gesture);
      return;
    }
    const point = drag.base[drag.index];
    if (!point) return;
    const y = yOfValue(target, point.value, pointer.heightPx) + pointer.y - drag.start.y;
    const tick = this.#snap(point.tick + (pointer.x - drag.start.x) * this.#view.ticksPerPx, pointer);
    const points = movePoint(drag.base, drag.index, tick, valueAtY(target, y, pointer.heightPx));
    this.#commands.setPoints('Move point', channelId, target.target, points, drag.gesture);
  }

  release(): void {
    if (this.#drag) this.#song.endGesture();
    this.#drag = null;
  }

  /** Deletes the point under a double click, unless the first of the two clicks added it. */
  doubleClick(pointer: LanePointer): void {
    const { channelId, target } = this.#lane();
    const hit = this.pointAt(pointer);
    if (hit === null || this.#justAdded) return;
    const isDone = this.#commands.setPoints('Delete point', channelId, target.target, this.#points().toSpliced(hit, 1));
    if (isDone) this.#commands.select(null);
  }

  #points(): readonly AutomationPoint[] {
    const { channelId, target } = this.#lane();
    return this.#commands.pointsOf(channelId, target.target);
  }

  /**
   * Returns the index of the point at the start of the segment under the pointer; null if there is
   * no segment that can be bent.
   */
  #segmentAt({ x }: LanePointer): number | null {
    const points = this.#points();
    if (this.#lane().target.isStepped) return null;
    const tick = this.#view.tick(x);
    const index = points.findLastIndex((point) => point.tick <= tick);
    const nextPoint = points[index + 1];
    return index >= 0 && nextPoint && nextPoint.value !== points[index]?.value ? index : null;
  }

  /** Returns the points of the lane with the segment bent so that it meets the pointer. */
  #bent(drag: Drag, pointer: LanePointer): AutomationPoint[] {
    const { target } = this.#lane();
    const startPoint = drag.base[drag.index];
    const endPoint = drag.base[drag.index + 1];
    if (!startPoint || !endPoint) return [...drag.base];
    const pointerFraction = timeBetween(this.#song.project.tempo_map, startPoint.tick, endPoint.tick)(this.#view.tick(drag.start.x));
    const value = valueAtY(target, pointer.y, pointer.heightPx);
    return setCurve(drag.base, drag.index, curvatureThrough(pointerFraction, (value - startPoint.value) / (endPoint.value - startPoint.value)));
  }

  #tickAt(pointer: LanePointer): number {
    return this.#snap(this.#view.tick(pointer.x), pointer);
  }

  #snap(tick: number, { shiftKey }: LanePointer): number {
    if (shiftKey) return Math.max(0, Math.round(tick));
    return snapTick(this.#song.project.time_signatures, tick, this.#stepTicks());
  }
}
