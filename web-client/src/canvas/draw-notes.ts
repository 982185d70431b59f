import { isBlackKey, keyName } from '../project/format';
import type { MidiItem, Note, Project, Track } from '../project/model';
import { drawGrid } from './draw-grid';
import { FONT_NUMBERS, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Maximum number of notes of other clips that are drawn behind the edited notes. */
const GHOST_NOTES_MAX = 4000;

/** The visible keys: the highest key, and the height of a key's row in pixels. */
export type KeyView = { topKey: number; rowPx: number };

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
  marquee: { left: number; top: number; width: number; height: number } | null;
};

/** Returns the distance of a key's row from the top of the piano roll, in pixels. */
export function yOfKey(keyView: KeyView, key: number): number {
  return (keyView.topKey - key) * keyView.rowPx;
}

/** Returns the key whose row is `y` pixels below the top of the piano roll. */
export function keyAtY(keyView: KeyView, y: number): number {
  return Math.min(127, Math.max(0, Math.floor(keyView.topKey - y / keyView.rowPx + 1)));
}

/** Draws the rows, the grid and the notes of the piano roll. */
export function drawNotes(context: CanvasRenderingContext2D, scene: NotesScene, widthPx: number, heightPx: number): void {
  const { view, keyView, item, track, notes } = scene;
  for (let key = keyView.topKey; key >= 0; key--) {
    const y = yOfKey(keyView, key);
    if (y > heightPx) break;
    if (isBlackKey(key)) {
      context.fillStyle = palette().ground;
      context.fillRect(0, y, widthPx, keyView.rowPx);
    }
    if (key % 12 === 0 || key % 12 === 5) {
      context.fillStyle = palette().lineSoft;
      context.fillRect(0, y + keyView.rowPx - 1, widthPx, 1);
    }
  }
  drawGrid(context, view, scene.project.time_signatures, scene.stepTicks, heightPx);
  drawGhosts(context, scene, widthPx, heightPx);
  const height = Math.max(3, keyView.rowPx - 2);
  notes.forEach((note, index) => {
    const x = view.x(item.start_tick + note.tick);
    const width = Math.max(3, note.length_ticks / view.ticksPerPx - 1);
    const y = yOfKey(keyView, note.pitch) + 1;
    if (x > widthPx || x + width < 0 || y > heightPx || y + height < 0) return;
    const isSelected = scene.selection.has(index);
    context.beginPath();
    context.roundRect(x, y, width, height, 2);
    context.fillStyle = isSelected ? track.color : withAlpha(track.color, 0.45 + 0.5 * note.velocity);
    context.fill();
    if (!isSelected) return;
    context.strokeStyle = palette().text;
    context.lineWidth = 1.5;
    context.stroke();
  });
  shadeOutside(context, scene, widthPx, heightPx);
  if (scene.marquee) {
    const { left, top, width, height: marqueeHeight } = scene.marquee;
    context.fillStyle = withAlpha(palette().accent, 0.12);
    context.fillRect(left, top, width, marqueeHeight);
    context.strokeStyle = palette().accent;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, width, marqueeHeight);
  }
}

/** Draws the notes of other clips, except those of drum kits, whose keys are not pitches. */
function drawGhosts(context: CanvasRenderingContext2D, scene: NotesScene, widthPx: number, heightPx: number): void {
  const { view, keyView, project, track, item } = scene;
  let remainingNotes = GHOST_NOTES_MAX;
  context.fillStyle = withAlpha(palette().ghostNote, 0.2);
  for (const ghostTrack of project.tracks) {
    const isDrums = ghostTrack.synth_engine?.type === 'soundfont' && ghostTrack.synth_engine.bank === 128;
    if (isDrums) continue;
    for (const ghost of ghostTrack.items) {
      if (ghost.type !== 'midi' || (ghostTrack === track && ghost.id === item.id)) continue;
      if (ghost.start_tick > view.endTick || ghost.start_tick + ghost.length_ticks < view.startTick) continue;
      for (const note of ghost.notes) {
        const x = view.x(ghost.start_tick + note.tick);
        const width = note.length_ticks / view.ticksPerPx - 1;
        const y = yOfKey(keyView, note.pitch) + 1;
        if (x > widthPx || x + width < 0 || y > heightPx || y + keyView.rowPx < 0) continue;
        if (remainingNotes-- === 0) return;
        context.fillRect(x, y, Math.max(2, width), keyView.rowPx - 2);
      }
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

/** Draws the keyboard at the left of the piano roll; `pressedKeys` are highlighted. */
export function drawKeys(
  context: CanvasRenderingContext2D,
  keyView: KeyView,
  pressedKeys: ReadonlySet<number>,
  widthPx: number,
  heightPx: number,
): void {
  for (let key = Math.min(127, keyView.topKey + 1); key >= 0; key--) {
    const y = yOfKey(keyView, key);
    if (y > heightPx) break;
    const black = isBlackKey(key);
    context.fillStyle = pressedKeys.has(key) ? palette().accent : palette().ivory;
    if (black) {
      context.fillRect(0, y, widthPx, keyView.rowPx);
      context.fillStyle = pressedKeys.has(key) ? palette().accent : palette().ebony;
      context.fillRect(0, y, widthPx * 0.62, keyView.rowPx);
      context.fillStyle = palette().ivoryLine;
      context.fillRect(widthPx * 0.62, Math.round(y + keyView.rowPx / 2), widthPx * 0.38, 1);
    } else {
      context.fillRect(0, y, widthPx, keyView.rowPx);
    }
    if (key % 12 === 0 || key % 12 === 5) {
      context.fillStyle = palette().ivoryLine;
      context.fillRect(0, y + keyView.rowPx - 1, widthPx, 1);
    }
    if (key % 12 === 0 && keyView.rowPx >= 8) {
      context.fillStyle = palette().keyName;
      context.font = FONT_NUMBERS;
      context.textAlign = 'right';
      context.fillText(keyName(key), widthPx - 4, y + keyView.rowPx - 2);
      context.textAlign = 'left';
    }
  }
}

/** Draws a bar for each note; its height is the note's velocity. */
export function drawVelocities(
  context: CanvasRenderingContext2D,
  scene: NotesScene,
  widthPx: number,
  heightPx: number,
): void {
  drawGrid(context, scene.view, scene.project.time_signatures, 0, heightPx);
  const draw = (note: Note, color: string): void => {
    const x = Math.round(scene.view.x(scene.item.start_tick + note.tick));
    if (x < -4 || x > widthPx) return;
    const height = Math.max(2, Math.round(note.velocity * (heightPx - 6)));
    context.fillStyle = color;
    context.fillRect(x, heightPx - height, 3, height);
  };
  scene.notes.forEach((note, index) => {
    if (!scene.selection.has(index)) draw(note, scene.track.color);
  });
  for (const index of scene.selection) {
    const note = scene.notes[index];
    if (note) draw(note, palette().text);
  }
}
