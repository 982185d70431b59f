/** Handles pointer gestures that draw, move and delete the points of a controller lane. */
import { controlAtY, yOfControl } from '../../canvas/draw-controls';
import type { TimeView } from '../../canvas/time-view.svelte';
import { drawLine, isSwitchLane, moveControlPoint, pointsOfLane, replacePoints, type ControlLane, type ControlPoint } from '../../project/control-lanes';
import { setItemControls } from '../../project/edit-items';
import { snapTick } from '../../project/grid';
import { TICKS_PER_QUARTER, type Control, type MidiItem } from '../../project/model';
import type { Song } from '../../state/editing/song.svelte';

/** Maximum distance at which the pointer takes a point, in pixels. */
const REACH_PX = 6;
/** Longest distance of the points of a drawn line: a 32nd note, in ticks. */
const LINE_STEP_TICKS = TICKS_PER_QUARTER / 8;

export type ControlPointer = { x: number; y: number; heightPx: number; shiftKey: boolean; altKey: boolean };

type Drag = { kind: 'move'; index: number; base: readonly Control[] } | { kind: 'draw' | 'erase'; last: ControlPointer };

export class ControlGestures {
  readonly #song: Song;
  readonly #view: TimeView;
  readonly #lane: () => ControlLane;
  readonly #stepTicks: () => number;
  #drag: Drag | null = null;
  #gestureCount = 0;

  constructor(song: Song, view: TimeView, lane: () => ControlLane, stepTicks: () => number) {
    this.#song = song;
    this.#view = view;
    this.#lane = lane;
    this.#stepTicks = stepTicks;
  }

  /** Returns the index of the nearest point that the pointer can take; null if there is none. */
  pointAt(item: MidiItem, { x, y, heightPx }: ControlPointer): number | null {
    let nearestIndex: number | null = null;
    let nearestPx = REACH_PX;
    pointsOfLane(item.controls, this.#lane()).forEach((point, index) => {
      const distancePx = Math.hypot(this.#view.x(item.start_tick + point.tick) - x, yOfControl(this.#lane(), point.value, heightPx) - y);
      if (distancePx > nearestPx) return;
      nearestPx = distancePx;
      nearestIndex = index;
    });
    return nearestIndex;
  }

  /**
   * Takes the point under the pointer and returns its index. Without one, it begins to draw, or
   * with Alt to erase, and returns null.
   */
  press(item: MidiItem, pointer: ControlPointer): number | null {
    this.#gestureCount += 1;
    const index = pointer.altKey ? null : this.pointAt(item, pointer);
    if (index !== null) {
      this.#drag = { kind: 'move', index, base: item.controls };
      return index;
    }
    this.#drag = { kind: pointer.altKey ? 'erase' : 'draw', last: pointer };
    this.move(item, pointer);
    return null;
  }

  move(item: MidiItem, pointer: ControlPointer): void {
    const drag = this.#drag;
    const lane = this.#lane();
    if (!drag) return;
    if (drag.kind === 'move') {
      const { tick, value } = this.#pointUnder(item, pointer, 'nearest');
      this.#commit('Move point', item, moveControlPoint(drag.base, lane, drag.index, tick, value));
      return;
    }
    const start = this.#pointUnder(item, drag.last, 'down');
    const end = this.#pointUnder(item, pointer, 'down');
    drag.last = pointer;
    if (drag.kind === 'erase') {
      const range = [Math.min(start.tick, end.tick), Math.max(start.tick, end.tick) + this.#lineStepTicks] as const;
      this.#commit('Delete points', item, replacePoints(item.controls, lane, range, []));
    } else this.#commit(isSwitchLane(lane) ? 'Draw pedal' : 'Draw controller', item, drawLine(item.controls, lane, start, end, this.#lineStepTicks));
  }

  release(): void {
    if (this.#drag) this.#song.endGesture();
    this.#drag = null;
  }

  get #lineStepTicks(): number {
    return Math.min(LINE_STEP_TICKS, this.#stepTicks() || LINE_STEP_TICKS);
  }

  /** Returns the point under the pointer, at a step of a line; with Shift anywhere. */
  #pointUnder(item: MidiItem, { x, y, heightPx, shiftKey }: ControlPointer, direction: 'nearest' | 'down'): ControlPoint {
    const songTick = this.#view.tick(x);
    const tick = shiftKey ? Math.round(songTick) : snapTick(this.#song.project.time_signatures, songTick, this.#lineStepTicks, direction);
    return { tick: Math.max(0, tick - item.start_tick), value: controlAtY(this.#lane(), y, heightPx) };
  }

  #commit(label: string, item: MidiItem, controls: Control[]): void {
    this.#song.edit(label, (project) => setItemControls(project, item.id, controls), `${label} ${this.#gestureCount}`);
  }
}
