import { FONT_NUMBERS, palette } from './palette';

/** Levels at the bottom and the top of the drawing, in decibels. */
const BOTTOM_DB = -72;
const TOP_DB = 0;
/** Room for the names of frequencies, in pixels. */
const NAMES_PX = 14;
/** Indices of the labelled bands among third octaves that begin at 20 Hz. */
const NAMED: readonly (readonly [band: number, name: string])[] = [
  [7, '100'],
  [17, '1k'],
  [27, '10k'],
];

/** A column for each third octave, as high as its level. */
export function drawSpectrum(context: CanvasRenderingContext2D, levelsDb: readonly number[], widthPx: number, heightPx: number): void {
  const tall = heightPx - NAMES_PX;
  const columnPx = widthPx / levelsDb.length;
  context.fillStyle = palette().lineSoft;
  for (let db = BOTTOM_DB + 24; db < TOP_DB; db += 24) context.fillRect(0, Math.round(tall * (1 - positionOf(db))), widthPx, 1);
  context.fillStyle = palette().levelMid;
  levelsDb.forEach((db, band) => {
    const height = Math.round(positionOf(db) * tall);
    context.fillRect(band * columnPx, tall - height, Math.max(1, columnPx - 1), height);
  });
  context.fillStyle = palette().muted;
  context.font = FONT_NUMBERS;
  context.textAlign = 'center';
  for (const [band, name] of NAMED) context.fillText(name, (band + 0.5) * columnPx, heightPx - 3);
  context.textAlign = 'left';
}

function positionOf(db: number): number {
  return Math.min(1, Math.max(0, (db - BOTTOM_DB) / (TOP_DB - BOTTOM_DB)));
}
