/** The visible part of the song, and the zoom. */
export class TimeView {
  startTick = $state(0);
  ticksPerPx = $state(30);
  widthPx = $state(800);
  readonly #minTicksPerPx: number;
  readonly #maxTicksPerPx: number;

  constructor(ticksPerPx: number, minTicksPerPx: number, maxTicksPerPx: number) {
    this.ticksPerPx = ticksPerPx;
    this.#minTicksPerPx = minTicksPerPx;
    this.#maxTicksPerPx = maxTicksPerPx;
  }

  get endTick(): number {
    return this.startTick + this.widthPx * this.ticksPerPx;
  }

  /** Returns the distance of a tick from the left edge of the view, in pixels. */
  x(tick: number): number {
    return (tick - this.startTick) / this.ticksPerPx;
  }

  /** Returns the tick that is `x` pixels from the left edge of the view. */
  tick(x: number): number {
    return this.startTick + x * this.ticksPerPx;
  }

  scrollTo(tick: number): void {
    this.startTick = Math.max(0, tick);
  }

  /** Zooms in by `factor`, or out if it is below 1. The tick at `x` keeps its position. */
  zoomAt(x: number, factor: number): void {
    const tick = this.tick(x);
    this.ticksPerPx = Math.min(this.#maxTicksPerPx, Math.max(this.#minTicksPerPx, this.ticksPerPx / factor));
    this.scrollTo(tick - x * this.ticksPerPx);
  }

  /** Zooms to the range from `fromTick` to `toTick`, with a margin of 3 % at the end. */
  fit(fromTick: number, toTick: number): void {
    const spanTicks = Math.max(960, (toTick - fromTick) * 1.03);
    this.ticksPerPx = Math.min(this.#maxTicksPerPx, Math.max(this.#minTicksPerPx, spanTicks / this.widthPx));
    this.scrollTo(fromTick);
  }

  /** Scrolls to `tick` if it is outside the view. */
  follow(tick: number): void {
    if (tick < this.startTick || tick > this.endTick - 24 * this.ticksPerPx) {
      this.scrollTo(tick - 48 * this.ticksPerPx);
    }
  }

  /**
   * Handles a turn of the mouse wheel at `x`. Zooms if Ctrl or Command is pressed. Scrolls if Shift
   * is pressed or the turn is sideways. Returns false for any other turn.
   */
  wheel(event: WheelEvent, x: number): boolean {
    if (event.ctrlKey || event.metaKey) {
      this.zoomAt(x, Math.exp(-event.deltaY * 0.004));
      return true;
    }
    const sidewaysPx = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (sidewaysPx === 0) return false;
    this.scrollTo(this.startTick + sidewaysPx * this.ticksPerPx);
    return true;
  }
}
