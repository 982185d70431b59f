import { METER_FLOOR_DB, type Meter } from '../engine/meters';
import { positionOfDb } from '../ui/fader-scale';
import { palette } from './palette';

/** Levels at which the colour of a meter changes, in decibels. */
const MEDIUM_DB = -9;
const HIGH_DB = -1;

function positionOf(db: number): number {
  return db <= METER_FLOOR_DB ? 0 : positionOfDb(db);
}

/** Draws a column each for left and right, with its held peak, on the scale of the fader. */
export function drawMeter(
  context: CanvasRenderingContext2D,
  meters: readonly [Meter, Meter],
  widthPx: number,
  heightPx: number,
): void {
  const columnPx = Math.floor((widthPx - 2) / 2);
  const gradient = context.createLinearGradient(0, heightPx, 0, 0);
  gradient.addColorStop(0, palette().levelLow);
  gradient.addColorStop(positionOf(MEDIUM_DB), palette().levelMid);
  gradient.addColorStop(positionOf(HIGH_DB), palette().levelHigh);
  gradient.addColorStop(1, palette().error);
  meters.forEach((meter, index) => {
    const x = index * (columnPx + 2);
    context.fillStyle = palette().ground;
    context.fillRect(x, 0, columnPx, heightPx);
    const height = Math.round(positionOf(meter.levelDb) * heightPx);
    context.fillStyle = gradient;
    context.fillRect(x, heightPx - height, columnPx, height);
    if (meter.peakDb <= METER_FLOOR_DB) return;
    context.fillStyle = meter.peakDb >= 0 ? palette().error : palette().text;
    context.fillRect(x, heightPx - Math.round(positionOf(meter.peakDb) * heightPx), columnPx, 1);
  });
}
