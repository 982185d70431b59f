/** Drags of the loop in the ruler. */
import type { LoopRegion } from '../../project/loop';

/** Distance from an end of the loop, in pixels, within which a press drags this end. */
const GRAB_PX = 6;

type Drag = { part: 'start' | 'end' | 'middle' | 'new'; region: LoopRegion; pressTick: number; gesture: string };

/** Returns the part of the loop that a press in the ruler's loop band drags. */
export function loopPartAt(region: LoopRegion | null, tick: number, ticksPerPx: number): Drag['part'] {
  if (!region) return 'new';
  const grabTicks = GRAB_PX * ticksPerPx;
  const fromStart = Math.abs(tick - region.startTick);
  const fromEnd = Math.abs(tick - region.endTick);
  if (fromEnd <= grabTicks && fromEnd <= fromStart) return 'end';
  if (fromStart <= grabTicks) return 'start';
  return tick > region.startTick && tick < region.endTick ? 'middle' : 'new';
}

/**
 * Returns the loop that a drag makes: from a press at `pressTick` to `tick`. `snap` rounds a tick
 * to the grid.
 */
export function draggedLoop(
  part: Drag['part'],
  region: LoopRegion,
  pressTick: number,
  tick: number,
  snap: (tick: number) => number,
): LoopRegion {
  if (part === 'new') {
    const [from, to] = [snap(Math.min(pressTick, tick)), snap(Math.max(pressTick, tick))];
    return { startTick: from, endTick: to };
  }
  if (part === 'middle') {
    const startTick = Math.max(0, snap(region.startTick + tick - pressTick));
    return { startTick, endTick: startTick + region.endTick - region.startTick };
  }
  return part === 'start' ? { ...region, startTick: snap(tick) } : { ...region, endTick: snap(tick) };
}

/** A drag of the loop. */
export class LoopDrag {
  readonly #drag: Drag;
  readonly #snap: (tick: number) => number;
  readonly #change: (region: LoopRegion, gesture: string) => void;
  #hasMoved = false;

  constructor(drag: Drag, snap: (tick: number) => number, change: (region: LoopRegion, gesture: string) => void) {
    this.#drag = drag;
    this.#snap = snap;
    this.#change = change;
  }

  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** Moves the pointer to a tick. `isFree` ignores the grid. */
  move(tick: number, isFree: boolean): void {
    const { part, region, pressTick, gesture } = this.#drag;
    const snap = isFree ? (value: number): number => Math.max(0, Math.round(value)) : this.#snap;
    const dragged = draggedLoop(part, region, pressTick, tick, snap);
    if (dragged.startTick === dragged.endTick) return;
    if (dragged.startTick === region.startTick && dragged.endTick === region.endTick && !this.#hasMoved) return;
    this.#hasMoved = true;
    this.#change(dragged, gesture);
  }
}
