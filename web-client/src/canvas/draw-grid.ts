import { gridLines } from '../project/grid';
import type { TimeSignature } from '../project/model';
import { palette } from './palette';
import type { TimeView } from './time-view.svelte';

/** Minimum distance between grid lines, in pixels. */
const MIN_LINE_SPACING_PX = 9;

/** Draws the vertical lines of bars, beats and grid steps. */
export function drawGrid(
  context: CanvasRenderingContext2D,
  view: TimeView,
  signatures: readonly TimeSignature[],
  stepTicks: number,
  heightPx: number,
): void {
  const lines = gridLines(signatures, view.startTick, view.endTick, stepTicks, MIN_LINE_SPACING_PX * view.ticksPerPx);
  for (const gridLine of lines) {
    context.fillStyle = gridLine.level === 'bar' ? palette().line : gridLine.level === 'beat' ? palette().lineSoft : palette().lineFaint;
    context.fillRect(Math.round(view.x(gridLine.tick)), 0, 1, heightPx);
  }
}
