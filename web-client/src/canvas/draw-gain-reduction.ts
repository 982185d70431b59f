import { FONT_NUMBERS, palette } from './palette';

/** Gain reduction at the lower end of the meter, in decibels. */
const RANGE_DB = 24;
/** Width of the column, in pixels. */
const COLUMN_PX = 6;
const MARKS_DB = [0, 6, 12, 18, 24];

/** Draws the gain reduction as a column from the top downwards, and the scale beside the column. */
export function drawGainReduction(context: CanvasRenderingContext2D, db: number, widthPx: number, heightPx: number): void {
  const columnHeightPx = heightPx - 10;
  context.fillStyle = palette().ground;
  context.fillRect(0, 5, COLUMN_PX, columnHeightPx);
  context.fillStyle = palette().levelHigh;
  context.fillRect(0, 5, COLUMN_PX, Math.round(Math.min(1, db / RANGE_DB) * columnHeightPx));
  context.fillStyle = palette().muted;
  context.font = FONT_NUMBERS;
  for (const mark of MARKS_DB) context.fillText(String(mark), COLUMN_PX + 4, 5 + (mark / RANGE_DB) * columnHeightPx + 4, widthPx - COLUMN_PX - 4);
}
