/** The view of the piano roll: the visible notes, the scale and the lanes below the notes. */
import type { KeyView } from '../../canvas/key-view';
import { TimeView } from '../../canvas/time-view.svelte';
import type { ScaleChoice } from '../../project/scales';
import type { Song } from '../../state/editing/song.svelte';
import type { LaneId } from './lane-ids';
import { LANES_MAX, lanesOf, scaleOf, setLanes, setScale, storedRollOf } from './stored-roll';

/** Minimum and maximum height of a key's row in the piano roll, in pixels. */
const ROW_PX = { min: 5, max: 26 };

export class RollState {
  readonly #song: Song;
  readonly view = new TimeView(6, 0.5, 200);
  topKey = $state(84);
  rowPx = $state(11);
  heightPx = $state(200);
  /** Length of new notes, in ticks; 0 for one step of the grid. */
  lengthTicks = $state(0);
  /** Id of the clip for which the view was zoomed last; null before that. */
  fittedItemId: string | null = null;

  readonly #stored = $derived.by(() => storedRollOf(this.#song.project));
  /** The lanes below the notes, from top to bottom. The song stores them. */
  readonly lanes: readonly LaneId[] = $derived(lanesOf(this.#stored));
  readonly #scale = $derived(scaleOf(this.#stored));

  constructor(song: Song) {
    this.#song = song;
  }

  /** The scale whose keys are highlighted. The song stores it. */
  get scale(): ScaleChoice {
    return this.#scale;
  }
  set scale(scale: ScaleChoice) {
    this.#song.edit('Choose scale', (project) => setScale(project, scale));
  }

  get keyView(): KeyView {
    return { topKey: this.topKey, rowPx: this.rowPx };
  }

  /** Scrolls by pixels; positive numbers scroll down, to lower keys. */
  scrollPx(px: number): void {
    this.#setTopKey(this.topKey - px / this.rowPx);
  }

  /** Scrolls until a key is visible. */
  showKey(key: number): void {
    const rowCount = this.heightPx / this.rowPx;
    if (key > this.topKey) this.#setTopKey(key + 1);
    else if (key < this.topKey - rowCount + 1) this.#setTopKey(key + rowCount - 2);
  }

  /** Scrolls so that a key is in the middle. */
  centerKey(key: number): void {
    this.#setTopKey(Math.round(key + this.heightPx / this.rowPx / 2));
  }

  /** Changes the height of the rows by a factor. The key at `y` pixels from the top stays there. */
  zoomKeys(factor: number, y = 0): void {
    const key = this.topKey - y / this.rowPx;
    this.rowPx = Math.min(ROW_PX.max, Math.max(ROW_PX.min, this.rowPx * factor));
    this.#setTopKey(key + y / this.rowPx);
  }

  /** Shows another lane in the place of one, which must differ from those that are shown. */
  setLane(index: number, id: LaneId): void {
    if (!this.lanes.includes(id)) this.#setLanes(this.lanes.with(index, id));
  }

  addLane(id: LaneId): void {
    if (this.lanes.length < LANES_MAX && !this.lanes.includes(id)) this.#setLanes([...this.lanes, id]);
  }

  removeLane(index: number): void {
    this.#setLanes(this.lanes.toSpliced(index, 1));
  }

  #setLanes(lanes: readonly LaneId[]): void {
    this.#song.edit('Choose lanes of the piano roll', (project) => setLanes(project, lanes));
  }

  #setTopKey(topKey: number): void {
    const lowest = Math.min(127, this.heightPx / this.rowPx - 1);
    this.topKey = Math.min(127, Math.max(lowest, topKey));
  }
}
