/**
 * SVG paths of levels over time or frequency, in a box of 1 by 1 with its origin at the top left.
 */

/** Levels of the top and bottom edge of the box, in dB. */
const TOP_DB = 0;
const BOTTOM_DB = -48;

/** Returns the distance of a level in dB from the top, 0..1; silence (null) is at the bottom. */
export function heightOf(db: number | null): number {
  const height = (TOP_DB - (db ?? BOTTOM_DB)) / (TOP_DB - BOTTOM_DB);
  return Math.min(1, Math.max(0, height));
}

/** Returns a filled path with a step for each interval. */
export function stepPath(levels: readonly (number | null)[]): string {
  const steps = levels.map((db, index) => {
    const height = heightOf(db).toFixed(4);
    return `L${xOf(index, levels.length)},${height}L${xOf(index + 1, levels.length)},${height}`;
  });
  return `M0,1${steps.join('')}L1,1Z`;
}

/** Returns a line through the middles of the intervals, with gaps where there is silence. */
export function linePath(levels: readonly (number | null)[]): string {
  let isDrawing = false;
  return levels
    .map((db, index) => {
      if (db === null) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${xOf(index + 0.5, levels.length)},${heightOf(db).toFixed(4)}`;
    })
    .join('');
}

function xOf(index: number, pointCount: number): string {
  return (index / pointCount).toFixed(5);
}
