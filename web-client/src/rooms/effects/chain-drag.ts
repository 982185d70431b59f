/** Dragging an effect panel along the chain. */

/** Pointer movement that turns a press into a drag, in pixels. */
const SLACK_PX = 4;

/** Left and right edge of a panel on the screen, in pixels. */
export type PanelSpan = { left: number; right: number };

/** The index, among the remaining panels, at which a drop at `x` inserts the dragged panel. */
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

  /** The index at which a drop inserts the panel; null until the drag has begun. */
  move(spans: readonly PanelSpan[], x: number): number | null {
    this.#moved ||= Math.abs(x - this.#x) >= SLACK_PX;
    return this.#moved ? dropIndex(spans, this.from, x) : null;
  }
}
