/** Draws the notes of the piano roll, with its rows, its grid and the notes of other clips. */
import { isDrumTrack } from '../project/drum-names';
import { isBlackKey } from '../project/format';
import type { MidiItem, Note, Project, Track } from '../project/model';
import { indexOfNotes } from '../project/note-index';
import { isInScale, type ScaleChoice } from '../project/scales';
import type { Backdrop } from './backdrop';
import { drawGrid } from './draw-grid';
import { visibleKeys, yOfKey, type KeyView } from './key-view';
import { palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Maximum number of notes of other clips that are drawn behind the edited notes. */
const GHOST_NOTES_MAX = 4000;
/** Number of shades that show velocities. */
const SHADES = 16;
/** Size below which notes are drawn without rounded corners, in pixels. */
const ROUND_PX = 5;

export type NotesScene = {
  view: TimeView;
  keyView: KeyView;
  project: Project;
  track: Track;
  item: MidiItem;
  /** The notes of the item, with the changes of the gesture that is in progress. */
  notes: readonly Note[];
  /** Indices of the selected notes. */
  selection: ReadonlySet<number>;
  stepTicks: number;
  scale: ScaleChoice;
  /** The cursor for pasting and for entering notes, as a tick of the song and a key. */
  cursor: { tick: number; key: number; isFocused: boolean };
  marquee: { left: number; top: number; width: number; height: number } | null;
};

/** Returns the indices of the scene's notes that are in the view, in ascending order. */
export function visibleNotes({ view, item, notes }: Pick<NotesScene, 'view' | 'item' | 'notes'>): number[] {
  return indexOfNotes(notes).between(view.startTick - item.start_tick, view.endTick - item.start_tick);
}

/**
 * Draws the rows, the grid and the notes of the piano roll. `backdrop` keeps all but the notes of
 * the item.
 */
export function drawNotes(context: CanvasRenderingContext2D, scene: NotesScene, backdrop: Backdrop, widthPx: number, heightPx: number): void {
  const { view, keyView, project, stepTicks, scale, track } = scene;
  const ghosts = ghostItems(scene);
  const inputs = [
    ...[view.startTick, view.ticksPerPx, view.endTick, keyView.topKey, keyView.rowPx],
    ...[project.time_signatures, stepTicks, scale, isDrumTrack(track), ...ghosts],
  ];
  backdrop.draw(context, inputs, (picture) => {
    drawRows(picture, scene, widthPx, heightPx);
    drawGrid(picture, view, project.time_signatures, stepTicks, heightPx);
    drawGhosts(picture, scene, ghosts, widthPx, heightPx);
  });
  drawOwnNotes(context, scene, heightPx);
  shadeOutside(context, scene, widthPx, heightPx);
  drawCursor(context, scene, heightPx);
  if (scene.marquee) drawMarquee(context, scene.marquee);
}

/** Draws the rows: dark for black keys, or for keys outside the scale if one is chosen. */
function drawRows(context: CanvasRenderingContext2D, { keyView, track, scale }: NotesScene, widthPx: number, heightPx: number): void {
  const isDrums = isDrumTrack(track);
  for (const key of visibleKeys(keyView, heightPx)) {
    const y = yOfKey(keyView, key);
    const inScale = isDrums ? null : isInScale(scale, key);
    const isDark = inScale === null ? !isDrums && isBlackKey(key) : !inScale;
    if (isDark) {
      context.fillStyle = palette().ground;
      context.fillRect(0, y, widthPx, keyView.rowPx);
    }
    if (inScale !== null && key % 12 === scale.root) {
      context.fillStyle = withAlpha(palette().accent, 0.07);
      context.fillRect(0, y, widthPx, keyView.rowPx);
    }
    if (isDrums || key % 12 === 0 || key % 12 === 5) {
      context.fillStyle = palette().lineSoft;
      context.fillRect(0, Math.round(y + keyView.rowPx) - 1, widthPx, 1);
    }
  }
}

/** Draws the notes of the item in groups of one shade, because a change of the colour is slow. */
function drawOwnNotes(context: CanvasRenderingContext2D, scene: NotesScene, heightPx: number): void {
  const { view, keyView, item, track, notes, selection } = scene;
  const height = Math.max(3, keyView.rowPx - 2);
  const byShade: number[][] = Array.from({ length: SHADES + 1 }, () => []);
  const selectedIndices: number[] = [];
  for (const index of visibleNotes(scene)) {
    const note = notes[index] as Note;
    const y = yOfKey(keyView, note.pitch);
    if (y > heightPx || y + keyView.rowPx < 0) continue;
    if (selection.has(index)) selectedIndices.push(index);
    else byShade[Math.round(note.velocity * SHADES)]?.push(index);
  }
  const fill = (indices: readonly number[]): void => {
    for (const index of indices) {
      const note = notes[index] as Note;
      const x = view.x(item.start_tick + note.tick);
      const width = Math.max(3, note.length_ticks / view.ticksPerPx - 1);
      const y = yOfKey(keyView, note.pitch) + 1;
      if (width < ROUND_PX || height < ROUND_PX) {
        context.fillRect(x, y, width, height);
        continue;
      }
      context.beginPath();
      context.roundRect(x, y, width, height, 2);
      context.fill();
    }
  };
  byShade.forEach((indices, shade) => {
    if (indices.length === 0) return;
    context.fillStyle = withAlpha(track.color, 0.45 + (0.5 * shade) / SHADES);
    fill(indices);
  });
  if (selectedIndices.length === 0) return;
  context.fillStyle = palette().text;
  fill(selectedIndices);
  context.fillStyle = track.color;
  for (const index of selectedIndices) {
    const note = notes[index] as Note;
    const width = Math.max(3, note.length_ticks / view.ticksPerPx - 1);
    context.fillRect(view.x(item.start_tick + note.tick) + 1.5, yOfKey(keyView, note.pitch) + 2.5, Math.max(0, width - 3), Math.max(1, height - 3));
  }
}

/** Returns the other clips in the view, except those of drum kits, whose keys are not pitches. */
export function ghostItems({ view: { startTick, endTick }, project, track, item }: Pick<NotesScene, 'view' | 'project' | 'track' | 'item'>): MidiItem[] {
  const found: MidiItem[] = [];
  for (const ghostTrack of project.tracks) {
    if (isDrumTrack(ghostTrack)) continue;
    for (const ghost of ghostTrack.items) {
      if (ghost.type !== 'midi' || (ghostTrack === track && ghost.id === item.id)) continue;
      if (ghost.start_tick <= endTick && ghost.start_tick + ghost.length_ticks >= startTick) found.push(ghost);
    }
  }
  return found;
}

/** Draws the notes of other clips. */
function drawGhosts(context: CanvasRenderingContext2D, { view, keyView }: NotesScene, ghosts: readonly MidiItem[], widthPx: number, heightPx: number): void {
  let remainingNotes = GHOST_NOTES_MAX;
  context.fillStyle = withAlpha(palette().ghostNote, 0.2);
  for (const ghost of ghosts) {
    for (const index of visibleNotes({ view, item: ghost, notes: ghost.notes })) {
      const note = ghost.notes[index] as Note;
      const x = view.x(ghost.start_tick + note.tick);
      const width = note.length_ticks / view.ticksPerPx - 1;
      const y = yOfKey(keyView, note.pitch) + 1;
      if (x > widthPx || y > heightPx || y + keyView.rowPx < 0) continue;
      if (remainingNotes-- === 0) return;
      context.fillRect(x, y, Math.max(2, width), keyView.rowPx - 2);
    }
  }
}

/** Darkens the time before and after the item. */
function shadeOutside(context: CanvasRenderingContext2D, scene: NotesScene, widthPx: number, heightPx: number): void {
  const startX = scene.view.x(scene.item.start_tick);
  const endX = scene.view.x(scene.item.start_tick + scene.item.length_ticks);
  context.fillStyle = withAlpha(palette().ground, 0.6);
  if (startX > 0) context.fillRect(0, 0, Math.min(widthPx, startX), heightPx);
  if (endX < widthPx) context.fillRect(Math.max(0, endX), 0, widthPx, heightPx);
  context.fillStyle = withAlpha(scene.track.color, 0.7);
  context.fillRect(Math.round(startX), 0, 1, heightPx);
  context.fillRect(Math.round(endX), 0, 1, heightPx);
}

/** Draws the cursor as a line, and while the roll has the focus, as a frame around its key. */
function drawCursor(context: CanvasRenderingContext2D, { view, keyView, stepTicks, cursor }: NotesScene, heightPx: number): void {
  const x = Math.round(view.x(cursor.tick));
  context.fillStyle = withAlpha(palette().text, cursor.isFocused ? 0.5 : 0.25);
  context.fillRect(x, 0, 1, heightPx);
  if (!cursor.isFocused) return;
  context.strokeStyle = palette().text;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, yOfKey(keyView, cursor.key) + 0.5, Math.max(6, (stepTicks || 240) / view.ticksPerPx), keyView.rowPx - 1);
}

function drawMarquee(context: CanvasRenderingContext2D, { left, top, width, height }: NonNullable<NotesScene['marquee']>): void {
  context.fillStyle = withAlpha(palette().accent, 0.12);
  context.fillRect(left, top, width, height);
  context.strokeStyle = palette().accent;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, width, height);
}
