import { FONT_NUMBERS, palette } from './palette';

/** Gain reduction at the lower end of the meter, in decibels. */
const RANGE_DB = 24;
const COLUMN_PX = 6;
const MARKS_DB = [0, 6, 12, 18, 24];

/** A column that grows downwards with the gain reduction, and its scale. */
export function drawGainReduction(context: CanvasRenderingContext2D, db: number, widthPx: number, heightPx: number): void {
  const tall = heightPx - 10;
  context.fillStyle = palette().ground;
  context.fillRect(0, 5, COLUMN_PX, tall);
  context.fillStyle = palette().levelHigh;
  context.fillRect(0, 5, COLUMN_PX, Math.round(Math.min(1, db / RANGE_DB) * tall));
  context.fillStyle = palette().muted;
  context.font = FONT_NUMBERS;
  for (const mark of MARKS_DB) context.fillText(String(mark), COLUMN_PX + 4, 5 + (mark / RANGE_DB) * tall + 4, widthPx - COLUMN_PX - 4);
}
