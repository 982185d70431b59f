import type { KeyView } from '../../canvas/draw-notes';
import { TimeView } from '../../canvas/time-view.svelte';

export type RollTool = 'select' | 'draw';

/** Minimum and maximum height of a key's row in the piano roll, in pixels. */
const ROW_PX = { min: 5, max: 26 };

/** The view and the tools of the piano roll. */
export class RollState {
  readonly view = new TimeView(6, 0.5, 200);
  tool = $state<RollTool>('select');
  topKey = $state(84);
  rowPx = $state(11);
  heightPx = $state(200);
  /** Velocity of new notes, 0..1. It is that of the note that was pressed or edited last. */
  velocity = $state(0.8);
  /** Length of new notes, in ticks; 0 for one step of the grid. */
  lengthTicks = $state(0);
  /** Id of the clip for which the view was zoomed last; null before that. */
  fittedItemId: string | null = null;

  get keyView(): KeyView {
    return { topKey: this.topKey, rowPx: this.rowPx };
  }

  scrollKeys(byKeys: number): void {
    const rowCount = Math.floor(this.heightPx / this.rowPx);
    this.topKey = Math.round(Math.min(127, Math.max(Math.min(127, rowCount - 1), this.topKey + byKeys)));
  }

  zoomKeys(factor: number): void {
    this.rowPx = Math.round(Math.min(ROW_PX.max, Math.max(ROW_PX.min, this.rowPx * factor)));
    this.scrollKeys(0);
  }
}
