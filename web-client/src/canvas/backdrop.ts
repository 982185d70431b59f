/**
 * Keeps the picture of the parts of a canvas that rarely change, so that drawing the other parts
 * does not draw these again.
 */
export class Backdrop {
  #picture: HTMLCanvasElement | null = null;
  /** The values from which the picture was drawn. */
  #inputs: readonly unknown[] = [];

  /**
   * Draws the picture on `target`. `paint` makes a new picture if one of `inputs` is another value
   * than before, or if the canvas has another size.
   */
  draw(target: CanvasRenderingContext2D, inputs: readonly unknown[], paint: (context: CanvasRenderingContext2D) => void): void {
    const { width, height } = target.canvas;
    this.#picture ??= document.createElement('canvas');
    const picture = this.#picture;
    const values = [...inputs, width, height];
    const isSame = values.length === this.#inputs.length && values.every((value, index) => value === this.#inputs[index]);
    const context = picture.getContext('2d');
    if (!context) return paint(target);
    if (!isSame) {
      this.#inputs = values;
      picture.width = width;
      picture.height = height;
      context.setTransform(target.getTransform());
      paint(context);
    }
    target.save();
    target.resetTransform();
    target.drawImage(picture, 0, 0);
    target.restore();
  }
}
