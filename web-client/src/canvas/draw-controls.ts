/** Draws a lane of controllers, pitch bend or pressure below the piano roll. */
import { formatControlValue, isSwitchLane, rangeOfLane, type ControlLane, type ControlPoint } from '../project/control-lanes';
import type { MidiItem, Project } from '../project/model';
import { drawGrid } from './draw-grid';
import { FONT_NUMBERS, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Distance of the highest and the lowest value from the edges of the lane, in pixels. */
const INSET_PX = 5;

export type ControlsScene = {
  view: TimeView;
  project: Project;
  item: MidiItem;
  lane: ControlLane;
  /** The points of the lane, sorted by tick. */
  points: readonly ControlPoint[];
  color: string;
  /** Index of the selected point; null for none. */
  selectedIndex: number | null;
};

/** Returns the distance of a value from the top of a lane, in pixels. */
export function yOfControl(lane: ControlLane, value: number, heightPx: number): number {
  const { min, max } = rangeOfLane(lane);
  return INSET_PX + (1 - (value - min) / (max - min)) * (heightPx - 2 * INSET_PX);
}

/** Returns the value at `y` pixels below the top of a lane, which may be out of range. */
export function controlAtY(lane: ControlLane, y: number, heightPx: number): number {
  const { min, max } = rangeOfLane(lane);
  const part = 1 - (y - INSET_PX) / (heightPx - 2 * INSET_PX);
  return isSwitchLane(lane) ? (part >= 0.5 ? max : min) : min + part * (max - min);
}

/** Draws the values as steps: each applies until the next point. */
export function drawControls(context: CanvasRenderingContext2D, scene: ControlsScene, widthPx: number, heightPx: number): void {
  const { view, project, item, lane, points, color, selectedIndex } = scene;
  drawGrid(context, view, project.time_signatures, 0, heightPx);
  const { initial } = rangeOfLane(lane);
  const baseY = yOfControl(lane, lane.kind === 'bend' ? 0 : rangeOfLane(lane).min, heightPx);
  const startX = view.x(item.start_tick);
  const endX = Math.min(widthPx, view.x(item.start_tick + item.length_ticks));
  let x = Math.max(0, startX);
  let y = yOfControl(lane, initial, heightPx);
  const drawStep = (untilX: number, isSet: boolean): void => {
    if (untilX <= x) return;
    context.fillStyle = withAlpha(color, isSet ? 0.22 : 0.08);
    context.fillRect(x, Math.min(y, baseY), untilX - x, Math.abs(baseY - y));
    context.fillStyle = isSet ? color : withAlpha(color, 0.4);
    context.fillRect(x, Math.round(y) - 0.5, untilX - x, 1.5);
  };
  points.forEach((point, index) => {
    const pointX = view.x(item.start_tick + point.tick);
    const pointY = yOfControl(lane, point.value, heightPx);
    drawStep(Math.min(pointX, endX), index > 0);
    x = Math.max(x, pointX);
    y = pointY;
  });
  drawStep(endX, points.length > 0);
  context.fillStyle = color;
  points.forEach((point, index) => {
    if (index === selectedIndex) return;
    const pointX = view.x(item.start_tick + point.tick);
    if (pointX >= -4 && pointX <= widthPx + 4) context.fillRect(pointX - 2, yOfControl(lane, point.value, heightPx) - 2, 4, 4);
  });
  const selectedPoint = selectedIndex === null ? undefined : points[selectedIndex];
  if (selectedPoint) drawSelected(context, scene, selectedPoint, widthPx, heightPx);
}

/** Draws the selected point with its value beside it. */
function drawSelected(context: CanvasRenderingContext2D, { view, item, lane }: ControlsScene, point: ControlPoint, widthPx: number, heightPx: number): void {
  const x = view.x(item.start_tick + point.tick);
  const y = yOfControl(lane, point.value, heightPx);
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fillStyle = palette().text;
  context.fill();
  context.font = FONT_NUMBERS;
  const text = formatControlValue(lane, point.value);
  const left = Math.min(widthPx - context.measureText(text).width - 4, x + 8);
  context.fillText(text, left, Math.min(heightPx - 4, Math.max(12, y + 4)));
}
