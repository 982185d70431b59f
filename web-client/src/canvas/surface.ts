/** Draws on a canvas at the resolution of the screen. */
import { outwards, type Band } from './band';

/** Called when a canvas comes into view or is scrolled out of it. */
const visibilityListeners = new WeakMap<Element, (isVisible: boolean) => void>();
/** One observer for all canvases, because the browser's work grows with the number of observers. */
const visibility = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) visibilityListeners.get(target)?.(isIntersecting);
});

/** Draws the parts of a canvas that are in a band. All other parts are clipped. */
export type Drawing = (context: CanvasRenderingContext2D, widthPx: number, heightPx: number, band: Band) => void;

/**
 * Returns the bands that have changed since the last call, in which the result was drawn; null if
 * the whole canvas has changed.
 */
export type Changes = (widthPx: number, heightPx: number) => readonly Band[] | null;

/**
 * Calls `drawing` after `redraw`, at most once per frame, and when the canvas changes its size. A
 * canvas that is scrolled out of the page is drawn when it comes into view. With `changes`, only
 * the changed bands are drawn.
 */
export class Surface {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #drawing: Drawing;
  readonly #changes: Changes | null;
  readonly #resizes: ResizeObserver;
  #request = 0;
  #isVisible = true;
  /** Whether the canvas must be drawn when it comes into view. */
  #isOutdated = false;
  /** Whether the next drawing replaces the whole canvas, whatever has changed. */
  #isWhole = true;

  constructor(canvas: HTMLCanvasElement, drawing: Drawing, changes: Changes | null = null) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#drawing = drawing;
    this.#changes = changes;
    this.#resizes = new ResizeObserver(() => this.#redrawWhole());
    this.#resizes.observe(canvas);
    visibilityListeners.set(canvas, (isVisible) => this.#receiveVisibility(isVisible));
    visibility.observe(canvas);
    void document.fonts.ready.then(() => this.#redrawWhole());
  }

  /** Whether a part of the canvas is in view. */
  get isVisible(): boolean {
    return this.#isVisible;
  }

  redraw(): void {
    if (!this.#isVisible) this.#isOutdated = true;
    else if (this.#request === 0) this.#request = requestAnimationFrame(() => this.#draw());
  }

  #redrawWhole(): void {
    this.#isWhole = true;
    this.redraw();
  }

  close(): void {
    cancelAnimationFrame(this.#request);
    this.#resizes.disconnect();
    visibility.unobserve(this.#canvas);
  }

  #receiveVisibility(isVisible: boolean): void {
    this.#isVisible = isVisible;
    if (!isVisible || !this.#isOutdated) return;
    this.#isOutdated = false;
    this.redraw();
  }

  #draw(): void {
    this.#request = 0;
    const context = this.#context;
    const widthPx = this.#canvas.clientWidth;
    const heightPx = this.#canvas.clientHeight;
    if (!context || widthPx === 0 || heightPx === 0) return;
    const scale = window.devicePixelRatio;
    const width = Math.round(widthPx * scale);
    const height = Math.round(heightPx * scale);
    const isResized = this.#canvas.width !== width || this.#canvas.height !== height;
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const changed = this.#changes?.(widthPx, heightPx) ?? null;
    if (changed === null || isResized || this.#isWhole) {
      this.#isWhole = false;
      context.clearRect(0, 0, widthPx, heightPx);
      this.#drawing(context, widthPx, heightPx, { topPx: 0, bottomPx: heightPx });
      return;
    }
    for (const change of changed) {
      const band = outwards(change, scale);
      context.save();
      context.beginPath();
      context.rect(0, band.topPx, widthPx, band.bottomPx - band.topPx);
      context.clip();
      context.clearRect(0, band.topPx, widthPx, band.bottomPx - band.topPx);
      this.#drawing(context, widthPx, heightPx, band);
      context.restore();
    }
  }
}
