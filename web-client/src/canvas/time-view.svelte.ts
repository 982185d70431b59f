/** The part of the song that a room shows, and its zoom. */
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

  x(tick: number): number {
    return (tick - this.startTick) / this.ticksPerPx;
  }

  tick(x: number): number {
    return this.startTick + x * this.ticksPerPx;
  }

  scrollTo(tick: number): void {
    this.startTick = Math.max(0, tick);
  }

  /** Zooms by `factor` (above 1: closer); the tick at `x` keeps its position. */
  zoomAt(x: number, factor: number): void {
    const tick = this.tick(x);
    this.ticksPerPx = Math.min(this.#maxTicksPerPx, Math.max(this.#minTicksPerPx, this.ticksPerPx / factor));
    this.scrollTo(tick - x * this.ticksPerPx);
  }

  /** Shows [fromTick, toTick] with 3 % more at the end. */
  fit(fromTick: number, toTick: number): void {
    const span = Math.max(960, (toTick - fromTick) * 1.03);
    this.ticksPerPx = Math.min(this.#maxTicksPerPx, Math.max(this.#minTicksPerPx, span / this.widthPx));
    this.scrollTo(fromTick);
  }

  /** Scrolls to `tick` if it is outside the view. */
  follow(tick: number): void {
    if (tick < this.startTick || tick > this.endTick - 24 * this.ticksPerPx) {
      this.scrollTo(tick - 48 * this.ticksPerPx);
    }
  }

  /**
   * Scrolls or zooms with the wheel: Ctrl or Command zooms, Shift scrolls sideways. Returns whether
   * it did.
   */
  wheel(event: WheelEvent, x: number): boolean {
    if (event.ctrlKey || event.metaKey) {
      this.zoomAt(x, Math.exp(-event.deltaY * 0.004));
      return true;
    }
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (sideways === 0) return false;
    this.scrollTo(this.startTick + sideways * this.ticksPerPx);
    return true;
  }
}
