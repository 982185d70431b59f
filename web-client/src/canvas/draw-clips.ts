import { fileIdOf, itemEndTick, lengthFramesOf, sourceOfItem, type SongTime } from '../project/audio-time';
import { itemId } from '../project/edit-items';
import type { AudioItem, Item, MidiItem, Project } from '../project/model';
import { audibleTracks } from '../project/routing';
import { secsAtTick } from '../project/tempo';
import type { Waveform } from '../project/waveform';
import type { Band } from './band';
import { drawGrid } from './draw-grid';
import { drawFades, drawWaveform, secsOfColumns } from './draw-waveform';
import { FONT_SMALL, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Height of a track's lane, in pixels. */
export const LANE_PX = 66;
const CLIP_INSET_PX = 4;
/** Gap between adjacent clips, in pixels. */
const CLIP_GAP_PX = 1.5;
/** Height of a clip's name and of its fade handles, in pixels. */
export const TITLE_PX = 15;

export type ClipsScene = {
  view: TimeView;
  project: Project;
  time: SongTime;
  /** Returns the waveform of a file; null until the waveform is loaded. */
  waveformOf: (fileId: string) => Waveform | null;
  /** Returns the reason why a file cannot be played; undefined for a file that can be played. */
  problemOf: (fileId: string) => string | undefined;
  scrollTopPx: number;
  selectedItemIds: ReadonlySet<string>;
  selectedTrackId: string | null;
};

/**
 * Returns the items of a track in the order in which they are drawn. Where clips overlap, the one
 * that starts later lies on top; both play.
 */
export function inDrawingOrder(items: readonly Item[]): readonly Item[] {
  const isSorted = items.every((item, index) => index === 0 || (items[index - 1]?.start_tick ?? 0) <= item.start_tick);
  return isSorted ? items : [...items].sort((a, b) => a.start_tick - b.start_tick);
}

/** Returns the left edge and the width of an item in the view, in pixels. */
export function itemSpan(view: TimeView, time: SongTime, item: Item): { left: number; width: number } {
  const left = view.x(item.start_tick);
  return { left, width: Math.max(3, view.x(itemEndTick(time, item)) - left) };
}

/** Returns the widths of an audio item's fades, in pixels; `widthPx` is the width of the item. */
export function fadeSpans(time: SongTime, item: AudioItem, widthPx: number): { in: number; out: number } {
  const lengthFrames = Math.max(1, lengthFramesOf(time, item));
  const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
  return { in: (widthPx * fadeIn) / lengthFrames, out: (widthPx * fadeOut) / lengthFrames };
}

/** Draws the tracks of the arrangement with their clips, as far as they touch a band. */
export function drawClips(
  context: CanvasRenderingContext2D,
  scene: ClipsScene,
  widthPx: number,
  heightPx: number,
  { topPx, bottomPx }: Band,
): void {
  const { view, project, scrollTopPx } = scene;
  const firstLane = Math.floor((scrollTopPx + topPx) / LANE_PX);
  const lastLane = Math.min(project.tracks.length, Math.ceil((scrollTopPx + bottomPx) / LANE_PX)) - 1;
  const selectedLane = project.tracks.findIndex((track) => track.id === scene.selectedTrackId);
  if (selectedLane >= 0) {
    context.fillStyle = palette().panel;
    context.fillRect(0, selectedLane * LANE_PX - scrollTopPx, widthPx, LANE_PX);
  }
  drawGrid(context, view, project.time_signatures, 0, heightPx);
  const columns = new ColumnTimes(scene, widthPx);
  const audible = audibleTracks(project);
  for (let lane = firstLane; lane <= lastLane; lane++) {
    const track = project.tracks[lane];
    if (!track) continue;
    const top = lane * LANE_PX - scrollTopPx;
    context.fillStyle = palette().line;
    context.fillRect(0, top + LANE_PX - 1, widthPx, 1);
    const isDimmed = audible.get(track.id) === false || track.frozen !== undefined;
    const color = track.frozen ? palette().frozen : track.color;
    for (const item of inDrawingOrder(track.items)) {
      // Sections are drawn in the ruler, by `drawRuler`.
      if (item.type === 'section') continue;
      const { left, width } = itemSpan(view, scene.time, item);
      if (left > widthPx || left + width < 0) continue;
      context.globalAlpha = isDimmed ? 0.45 : 1;
      drawClip(context, item, item.name ?? track.name, color, scene.selectedItemIds.has(itemId(item)), {
        left,
        width,
        top: top + CLIP_INSET_PX,
        height: LANE_PX - 1 - 2 * CLIP_INSET_PX,
        view,
        widthPx,
      });
      if (item.type === 'audio') drawAudio(context, scene, item, color, columns, { left, width, top: top + CLIP_INSET_PX, widthPx });
      context.globalAlpha = 1;
    }
  }
}

/** Times of the pixel columns, in seconds of the song. They are computed when first used. */
class ColumnTimes {
  readonly #scene: ClipsScene;
  readonly #widthPx: number;
  #secs: Float64Array | null = null;

  constructor(scene: ClipsScene, widthPx: number) {
    this.#scene = scene;
    this.#widthPx = widthPx;
  }

  get secs(): Float64Array {
    this.#secs ??= secsOfColumns(this.#scene.view, this.#scene.time.tempoMap, this.#widthPx);
    return this.#secs;
  }
}

function drawAudio(
  context: CanvasRenderingContext2D,
  { time, waveformOf, problemOf }: ClipsScene,
  item: AudioItem,
  color: string,
  columns: ColumnTimes,
  area: { left: number; width: number; top: number; widthPx: number },
): void {
  const id = fileIdOf(item);
  const box = { ...area, top: area.top + TITLE_PX + 1, height: LANE_PX - 2 * CLIP_INSET_PX - TITLE_PX - 5 };
  const problem = id === null ? 'has no audio file' : problemOf(id);
  const waveform = id === null ? null : waveformOf(id);
  if (problem !== undefined) {
    context.fillStyle = palette().error;
    context.font = FONT_SMALL;
    context.fillText('File cannot be played', Math.max(0, box.left) + 6, box.top + 16, Math.max(0, box.width - 12));
  }
  if (!waveform) return;
  const scene = {
    item,
    source: sourceOfItem(time, item),
    lengthFrames: lengthFramesOf(time, item),
    waveform,
    startSecs: secsAtTick(time.tempoMap, item.start_tick),
    secs: columns.secs,
  };
  drawWaveform(context, scene, withAlpha(color, 0.9), { ...box, width: box.width - CLIP_GAP_PX });
  drawFades(context, fadeSpans(time, item, box.width), palette().text, box);
}

type ClipBox = { left: number; width: number; top: number; height: number; view: TimeView; widthPx: number };

function drawClip(
  context: CanvasRenderingContext2D,
  item: Item,
  name: string,
  color: string,
  isSelected: boolean,
  box: ClipBox,
): void {
  // The clip is limited to the view, because filling a long path is slow.
  const left = Math.max(-8, box.left) + 0.5;
  const right = Math.min(box.widthPx + 8, box.left + box.width) - CLIP_GAP_PX;
  const width = Math.max(2, right - left);
  context.beginPath();
  context.roundRect(left, box.top + 0.5, width, box.height - 1, 4);
  // The ground covers the clips below, of which only the parts beside this clip stay visible.
  context.fillStyle = palette().ground;
  context.fill();
  context.fillStyle = withAlpha(color, isSelected ? 0.42 : 0.24);
  context.fill();
  if (isSelected) {
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    context.stroke();
  }
  context.save();
  context.clip();
  if (box.width > 24) {
    context.fillStyle = color;
    context.font = FONT_SMALL;
    context.fillText(name, Math.max(left, box.left) + 6, box.top + 12);
  }
  if (item.type === 'midi') drawNotes(context, item, isSelected ? withAlpha(color, 1) : withAlpha(color, 0.9), box);
  context.restore();
}

function drawNotes(context: CanvasRenderingContext2D, item: MidiItem, color: string, box: ClipBox): void {
  if (item.notes.length === 0) return;
  let lowestPitch = 127;
  let highestPitch = 0;
  for (const note of item.notes) {
    lowestPitch = Math.min(lowestPitch, note.pitch);
    highestPitch = Math.max(highestPitch, note.pitch);
  }
  const pitchRange = Math.max(7, highestPitch - lowestPitch);
  const middlePitch = (lowestPitch + highestPitch) / 2;
  const top = box.top + TITLE_PX + 3;
  const height = box.height - TITLE_PX - 9;
  context.fillStyle = color;
  const { view } = box;
  for (const note of item.notes) {
    const x = view.x(item.start_tick + note.tick);
    const width = Math.max(2, note.length_ticks / view.ticksPerPx - 0.5);
    if (x > box.widthPx || x + width < 0) continue;
    const y = top + height * (0.5 - (note.pitch - middlePitch) / pitchRange);
    context.fillRect(x, Math.round(y), width, 2);
  }
}
