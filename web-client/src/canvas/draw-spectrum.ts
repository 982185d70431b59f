import { FONT_NUMBERS, palette } from './palette';

/** Levels at the bottom and the top of the drawing, in decibels. */
const BOTTOM_DB = -72;
const TOP_DB = 0;
/** Height of the frequency labels below the columns, in pixels. */
const LABELS_PX = 14;
/** The third-octave bands that have a label, by index; band 0 is at 20 Hz. */
const LABELLED_BANDS: readonly (readonly [band: number, name: string])[] = [
  [7, '100'],
  [17, '1k'],
  [27, '10k'],
];

/** Draws a column for each third-octave band; its height is the level of the band. */
export function drawSpectrum(context: CanvasRenderingContext2D, levelsDb: readonly number[], widthPx: number, heightPx: number): void {
  const columnsHeightPx = heightPx - LABELS_PX;
  const columnPx = widthPx / levelsDb.length;
  context.fillStyle = palette().lineSoft;
  for (let db = BOTTOM_DB + 24; db < TOP_DB; db += 24) context.fillRect(0, Math.round(columnsHeightPx * (1 - positionOf(db))), widthPx, 1);
  context.fillStyle = palette().levelMid;
  levelsDb.forEach((db, band) => {
    const height = Math.round(positionOf(db) * columnsHeightPx);
    context.fillRect(band * columnPx, columnsHeightPx - height, Math.max(1, columnPx - 1), height);
  });
  context.fillStyle = palette().muted;
  context.font = FONT_NUMBERS;
  context.textAlign = 'center';
  for (const [band, name] of LABELLED_BANDS) context.fillText(name, (band + 0.5) * columnPx, heightPx - 3);
  context.textAlign = 'left';
}

function positionOf(db: number): number {
  return Math.min(1, Math.max(0, (db - BOTTOM_DB) / (TOP_DB - BOTTOM_DB)));
}
