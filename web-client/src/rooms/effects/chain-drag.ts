/** Dragging a panel along a row of panels. */

/** How far the pointer moves before a press becomes a drag, in pixels. */
const SLACK_PX = 4;

/** Where a panel lies on the screen, in pixels from the left. */
export type PanelSpan = { left: number; right: number };

/** The place, counted without the dragged panel, at which it would land if it were let go at `x`. */
export function dropIndex(spans: readonly PanelSpan[], dragged: number, x: number): number {
  return spans.filter(({ left, right }, index) => index !== dragged && (left + right) / 2 < x).length;
}

export class ChainDrag {
  readonly #x: number;
  #moved = false;
  readonly from: number;

  constructor(from: number, x: number) {
    this.from = from;
    this.#x = x;
  }

  /** Where the panel would land now; null until the pointer has really moved. */
  move(spans: readonly PanelSpan[], x: number): number | null {
    this.#moved ||= Math.abs(x - this.#x) >= SLACK_PX;
    return this.#moved ? dropIndex(spans, this.from, x) : null;
  }
}
