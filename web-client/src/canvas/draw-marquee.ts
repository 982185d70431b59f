import { palette, withAlpha } from './palette';

/** Draws the rectangle that selects clips. `scrollTopPx` is the offset of the visible part. */
export function drawMarquee(
  context: CanvasRenderingContext2D,
  box: { left: number; top: number; width: number; height: number },
  scrollTopPx: number,
): void {
  const { accent } = palette();
  context.fillStyle = withAlpha(accent, 0.12);
  context.strokeStyle = accent;
  context.lineWidth = 1;
  context.fillRect(box.left, box.top - scrollTopPx, box.width, box.height);
  context.strokeRect(box.left + 0.5, box.top - scrollTopPx + 0.5, box.width, box.height);
}
