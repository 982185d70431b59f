/** Draws the ruler of the piano roll: bars, and beats where there is room for them. */
import { barPositionAt, gridLines } from '../project/grid';
import type { MidiItem, TimeSignature } from '../project/model';
import { FONT_NUMBERS, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Minimum distance between numbers, in pixels. */
const MIN_NUMBER_PX = 46;

export function drawRollRuler(
  context: CanvasRenderingContext2D,
  view: TimeView,
  signatures: readonly TimeSignature[],
  { item, color }: { item: MidiItem; color: string },
  widthPx: number,
  heightPx: number,
): void {
  const clipX = Math.max(0, view.x(item.start_tick));
  const clipEndX = Math.min(widthPx, view.x(item.start_tick + item.length_ticks));
  context.fillStyle = withAlpha(color, 0.25);
  if (clipEndX > clipX) context.fillRect(clipX, heightPx - 3, clipEndX - clipX, 3);
  context.font = FONT_NUMBERS;
  let lastNumberX = -Infinity;
  const lines = gridLines(signatures, view.startTick, view.endTick, 0, 9 * view.ticksPerPx);
  const barSpacingPx = barSpacing(lines.flatMap(({ tick, level }) => (level === 'bar' ? [view.x(tick)] : [])));
  for (const { tick, level, bar } of lines) {
    const x = Math.round(view.x(tick));
    const isBar = level === 'bar';
    // A beat is named only if the name leaves room for the number of the next bar.
    const { beat } = isBar ? { beat: 1 } : barPositionAt(signatures, tick);
    const hasNumber = x - lastNumberX >= MIN_NUMBER_PX && (isBar || barSpacingPx >= 4 * MIN_NUMBER_PX);
    context.fillStyle = palette().line;
    context.fillRect(x, hasNumber && isBar ? 2 : heightPx - 5, 1, heightPx);
    if (!hasNumber) continue;
    context.fillStyle = isBar ? palette().text : palette().muted;
    context.fillText(isBar ? String(bar) : `${bar}.${beat}`, x + 4, heightPx - 6);
    lastNumberX = x;
  }
}

/** Returns the distance of the first two bars, in pixels; with fewer bars they are far apart. */
function barSpacing([first, second]: readonly number[]): number {
  return first === undefined || second === undefined ? Infinity : second - first;
}
