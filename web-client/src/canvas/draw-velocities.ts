/** Draws the velocity lane of the piano roll. */
import type { Note } from '../project/model';
import { drawGrid } from './draw-grid';
import { visibleNotes, type NotesScene } from './draw-notes';
import { palette, withAlpha } from './palette';

/** Distance of a velocity of 1 from the top of the lane, in pixels. */
const INSET_PX = 6;
/** Width of a note's bar, and distance of the bars of notes that start together, in pixels. */
const BAR_PX = 3;
const SPREAD_PX = 6;

/** The bar of a note in the velocity lane. `x` is the distance of its left edge, in pixels. */
export type VelocityBar = { index: number; x: number };

/**
 * Returns the bars of the notes that are in the view, from left to right. The bars of notes that
 * start together stand beside each other, the lowest note at the left, so the pointer can grab each
 * of them.
 */
export function velocityBars(scene: Pick<NotesScene, 'view' | 'item' | 'notes'>): VelocityBar[] {
  const { view, item, notes } = scene;
  const order = visibleNotes(scene).sort((first, second) => {
    const a = notes[first] as Note;
    const b = notes[second] as Note;
    return a.tick - b.tick || a.pitch - b.pitch;
  });
  let place = 0;
  return order.map((index, position) => {
    const { tick } = notes[index] as Note;
    place = tick === notes[order[position - 1] ?? -1]?.tick ? place + 1 : 0;
    return { index, x: Math.round(view.x(item.start_tick + tick)) + place * SPREAD_PX };
  });
}

/** Returns the velocity, 0..1, at `y` pixels below the top of a lane of `heightPx` pixels. */
export function velocityAtY(y: number, heightPx: number): number {
  return Math.min(1, Math.max(0, (heightPx - y) / (heightPx - INSET_PX)));
}

/** Draws a bar for each note; its height is the note's velocity. Selected notes are drawn last. */
export function drawVelocities(context: CanvasRenderingContext2D, scene: NotesScene, widthPx: number, heightPx: number): void {
  drawGrid(context, scene.view, scene.project.time_signatures, 0, heightPx);
  const bars = velocityBars(scene);
  const draw = ({ index, x }: VelocityBar): void => {
    if (x < -SPREAD_PX || x > widthPx) return;
    const height = Math.max(2, Math.round((scene.notes[index]?.velocity ?? 0) * (heightPx - INSET_PX)));
    context.fillRect(x, heightPx - height, BAR_PX, height);
    context.fillRect(x - 1, heightPx - height - 1, BAR_PX + 2, 4);
  };
  const hasSelection = scene.selection.size > 0;
  context.fillStyle = hasSelection ? withAlpha(scene.track.color, 0.6) : scene.track.color;
  for (const bar of bars) if (!scene.selection.has(bar.index)) draw(bar);
  if (!hasSelection) return;
  context.fillStyle = palette().text;
  for (const bar of bars) if (scene.selection.has(bar.index)) draw(bar);
}
