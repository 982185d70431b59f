/** Draws on a canvas at the resolution of the screen. */

export type Drawing = (context: CanvasRenderingContext2D, widthPx: number, heightPx: number) => void;

/** Calls `drawing` after `redraw`, at most once per frame, and when the canvas changes its size. */
export class Surface {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #drawing: Drawing;
  readonly #observer: ResizeObserver;
  #request = 0;

  constructor(canvas: HTMLCanvasElement, drawing: Drawing) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#drawing = drawing;
    this.#observer = new ResizeObserver(() => this.redraw());
    this.#observer.observe(canvas);
    void document.fonts.ready.then(() => this.redraw());
  }

  redraw(): void {
    if (this.#request === 0) this.#request = requestAnimationFrame(() => this.#draw());
  }

  close(): void {
    cancelAnimationFrame(this.#request);
    this.#observer.disconnect();
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
