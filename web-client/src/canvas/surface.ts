/** Draws on a canvas at the resolution of the screen. */

/** Called when a canvas comes into view or is scrolled out of it. */
const visibilityListeners = new WeakMap<Element, (isVisible: boolean) => void>();
/** One observer for all canvases, because the browser's work grows with the number of observers. */
const visibility = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) visibilityListeners.get(target)?.(isIntersecting);
});

export type Drawing = (context: CanvasRenderingContext2D, widthPx: number, heightPx: number) => void;

/**
 * Calls `drawing` after `redraw`, at most once per frame, and when the canvas changes its size. A
 * canvas that is scrolled out of the page is drawn when it comes into view.
 */
export class Surface {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #drawing: Drawing;
  readonly #resizes: ResizeObserver;
  #request = 0;
  #isVisible = true;
  /** Whether the canvas must be drawn when it comes into view. */
  #isOutdated = false;

  constructor(canvas: HTMLCanvasElement, drawing: Drawing) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#drawing = drawing;
    this.#resizes = new ResizeObserver(() => this.redraw());
    this.#resizes.observe(canvas);
    visibilityListeners.set(canvas, (isVisible) => this.#receiveVisibility(isVisible));
    visibility.observe(canvas);
    void document.fonts.ready.then(() => this.redraw());
  }

  /** Whether a part of the canvas is in view. */
  get isVisible(): boolean {
    return this.#isVisible;
  }

  redraw(): void {
    if (!this.#isVisible) this.#isOutdated = true;
    else if (this.#request === 0) this.#request = requestAnimationFrame(() => this.#draw());
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
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, widthPx, heightPx);
    this.#drawing(context, widthPx, heightPx);
  }
}
