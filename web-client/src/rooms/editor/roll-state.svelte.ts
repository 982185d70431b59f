import type { KeyView } from '../../canvas/draw-notes';
import { TimeView } from '../../canvas/time-view.svelte';

export type RollTool = 'select' | 'draw';

/** Height of a MIDI key in the roll, in pixels. */
const ROW_PX = { min: 5, max: 26 };

/** The view and the tools of the piano roll. */
export class RollState {
  readonly view = new TimeView(6, 0.5, 200);
  tool = $state<RollTool>('select');
  topKey = $state(84);
  rowPx = $state(11);
  heightPx = $state(200);
  /** Velocity of drawn notes, 0..1: that of the note that was touched last. */
  velocity = $state(0.8);
  /** Length of drawn notes, in ticks; 0 is one step of the grid. */
  lengthTicks = $state(0);
  /** The clip to which the view was fitted. */
  shownItem: string | null = null;

  get keys(): KeyView {
    return { topKey: this.topKey, rowPx: this.rowPx };
  }

  scrollKeys(byKeys: number): void {
    const rows = Math.floor(this.heightPx / this.rowPx);
    this.topKey = Math.round(Math.min(127, Math.max(Math.min(127, rows - 1), this.topKey + byKeys)));
  }

  zoomKeys(factor: number): void {
    this.rowPx = Math.round(Math.min(ROW_PX.max, Math.max(ROW_PX.min, this.rowPx * factor)));
    this.scrollKeys(0);
  }
}
