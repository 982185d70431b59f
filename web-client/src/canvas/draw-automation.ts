import { progressAt, timeBetween } from '../project/automation';
import type { TargetScale } from '../project/automation-targets';
import type { AutomationPoint, TempoPoint, TimeSignature } from '../project/model';
import { drawGrid } from './draw-grid';
import { FONT_NUMBERS, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Margin of a lane above the highest value and below the lowest value, in pixels. */
export const LANE_INSET_PX = 10;
/** Width of the straight lines that approximate a curved segment, in pixels. */
const LINE_PX = 3;

export type AutomationScene = {
  view: TimeView;
  signatures: readonly TimeSignature[];
  tempoMap: readonly TempoPoint[];
  stepTicks: number;
  points: readonly AutomationPoint[];
  scale: TargetScale;
  color: string;
  /** Indices of the selected point and of the point under the pointer; null for none. */
  selectedIndex: number | null;
  hoveredIndex: number | null;
};

/** Returns the distance of a value from the top of its lane, in pixels. */
export function yOfValue(scale: TargetScale, value: number, heightPx: number): number {
  return LANE_INSET_PX + (1 - scale.positionOf(value)) * (heightPx - 2 * LANE_INSET_PX);
}

/** Returns the value at a distance `y`, in pixels, from the top of the lane. */
export function valueAtY(scale: TargetScale, y: number, heightPx: number): number {
  return scale.valueAt(1 - (y - LANE_INSET_PX) / (heightPx - 2 * LANE_INSET_PX));
}

/** Draws an automation lane: the grid, the curve and its points. */
export function drawAutomation(context: CanvasRenderingContext2D, scene: AutomationScene, widthPx: number, heightPx: number): void {
  drawGrid(context, scene.view, scene.signatures, scene.stepTicks, heightPx);
  const corners = cornersOf(scene, widthPx, heightPx);
  if (corners.length > 0) {
    context.beginPath();
    corners.forEach(([x, y], index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.strokeStyle = scene.color;
    context.lineWidth = 1.5;
    context.lineJoin = 'round';
    context.stroke();
    context.lineTo(corners.at(-1)?.[0] ?? 0, heightPx);
    context.lineTo(corners[0]?.[0] ?? 0, heightPx);
    context.fillStyle = withAlpha(scene.color, 0.1);
    context.fill();
  }
  scene.points.forEach((point, index) => drawPoint(context, scene, point, index, widthPx, heightPx));
}

/** Returns the corners of the line that draws the curve from the left to the right of the view. */
function cornersOf(scene: AutomationScene, widthPx: number, heightPx: number): [x: number, y: number][] {
  const { view, points, scale } = scene;
  const firstPoint = points[0];
  const lastPoint = points.at(-1);
  if (!firstPoint || !lastPoint) return [];
  const y = (value: number): number => yOfValue(scale, value, heightPx);
  const corners: [number, number][] = [];
  if (view.x(firstPoint.tick) > 0) corners.push([0, y(firstPoint.value)]);
  points.forEach((point, index) => {
    const nextPoint = points[index + 1];
    const left = view.x(point.tick);
    const right = nextPoint ? view.x(nextPoint.tick) : widthPx;
    if (right < 0 || left > widthPx) return;
    corners.push([left, y(point.value)]);
    if (!nextPoint) return;
    if (scale.isStepped || point.curve === 'step') corners.push([right, y(point.value)]);
    else corners.push(...cornersBetween(scene, point, nextPoint, [Math.max(0, left), Math.min(widthPx, right)], heightPx));
    corners.push([right, y(nextPoint.value)]);
  });
  corners.push([Math.max(widthPx, view.x(lastPoint.tick)), y(lastPoint.value)]);
  return corners;
}

/**
 * Returns the corners between two points. The scale of the lane and tempo changes bend even linear
 * segments.
 */
function cornersBetween(
  { view, scale, tempoMap }: AutomationScene,
  point: AutomationPoint,
  nextPoint: AutomationPoint,
  [startX, endX]: [number, number],
  heightPx: number,
): [number, number][] {
  const corners: [number, number][] = [];
  const timeAt = timeBetween(tempoMap, point.tick, nextPoint.tick);
  for (let x = startX + LINE_PX; x < endX; x += LINE_PX) {
    const value = point.value + (nextPoint.value - point.value) * progressAt(point.curve, timeAt(view.tick(x)));
    corners.push([x, yOfValue(scale, value, heightPx)]);
  }
  return corners;
}

function drawPoint(
  context: CanvasRenderingContext2D,
  scene: AutomationScene,
  point: AutomationPoint,
  index: number,
  widthPx: number,
  heightPx: number,
): void {
  const x = scene.view.x(point.tick);
  if (x < -8 || x > widthPx + 8) return;
  const y = yOfValue(scene.scale, point.value, heightPx);
  const isSelected = index === scene.selectedIndex;
  const isHovered = index === scene.hoveredIndex;
  context.beginPath();
  context.arc(x, y, isSelected || isHovered ? 5 : 3.5, 0, 2 * Math.PI);
  context.fillStyle = isSelected ? palette().text : scene.color;
  context.fill();
  context.strokeStyle = palette().ground;
  context.lineWidth = 1.5;
  context.stroke();
  if (!isSelected && !isHovered) return;
  const text = scene.scale.format(point.value);
  context.font = FONT_NUMBERS;
  const width = context.measureText(text).width;
  const left = Math.min(widthPx - width - 4, Math.max(4, x + 9));
  context.fillStyle = palette().text;
  context.fillText(text, left, y < 24 ? y + 18 : y - 8);
}
