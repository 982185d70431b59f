/** Computes where the drag of an effect panel moves the effect in its chain. */

/** Movement of the pointer after which a press becomes a drag, in pixels. */
const DRAG_START_PX = 4;

/** The left and the right edge of a panel on the screen, in pixels. */
export type PanelSpan = { left: number; right: number };

/** Returns the index that the panel at `draggedIndex` gets if it is dropped at `x`. */
export function dropIndex(spans: readonly PanelSpan[], draggedIndex: number, x: number): number {
  return spans.filter(({ left, right }, index) => index !== draggedIndex && (left + right) / 2 < x).length;
}

export class ChainDrag {
  readonly #startX: number;
  #hasMoved = false;
  readonly draggedIndex: number;

  constructor(draggedIndex: number, startX: number) {
    this.draggedIndex = draggedIndex;
    this.#startX = startX;
  }

  /** Returns the index that the panel gets if it is dropped at `x`; null before the drag starts. */
  move(spans: readonly PanelSpan[], x: number): number | null {
    this.#hasMoved ||= Math.abs(x - this.#startX) >= DRAG_START_PX;
    return this.#hasMoved ? dropIndex(spans, this.draggedIndex, x) : null;
  }
}
