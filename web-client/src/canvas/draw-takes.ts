/** Draws the takes of a track below each other, and which of them plays where. */
import { lengthFramesOf, fileIdOf, sourceOfItem, type SongTime } from '../project/audio-time';
import type { MidiItem, Take, TimeSignature } from '../project/model';
import { rangeOfTake, type CompPiece, type TickRange } from '../project/takes';
import { secsAtTick } from '../project/tempo';
import type { Waveform } from '../project/waveform';
import { drawGrid } from './draw-grid';
import { drawWaveform, secsOfColumns } from './draw-waveform';
import { palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

export type TakesScene = {
  view: TimeView;
  time: SongTime;
  signatures: readonly TimeSignature[];
  takes: readonly Take[];
  comp: readonly CompPiece[];
  color: string;
  waveformOf: (fileId: string) => Waveform | null;
  /** Height of a lane, and how much of the first one is above the canvas, in pixels. */
  lanePx: number;
  scrollTopPx: number;
  /** The selected lane, with the cursor or the range; null without keyboard focus or drag. */
  selected: { lane: number; cursorTick: number | null; range: TickRange | null } | null;
};

const INSET_PX = 2;

export function drawTakes(context: CanvasRenderingContext2D, scene: TakesScene, widthPx: number, heightPx: number): void {
  const { view, takes, lanePx, scrollTopPx, selected } = scene;
  context.fillStyle = palette().panel;
  context.fillRect(0, 0, widthPx, heightPx);
  drawGrid(context, view, scene.signatures, 0, heightPx);
  const secs = secsOfColumns(view, scene.time.tempoMap, widthPx);
  const firstLane = Math.floor(scrollTopPx / lanePx);
  const lastLane = Math.min(takes.length - 1, Math.floor((scrollTopPx + heightPx) / lanePx));
  for (let lane = firstLane; lane <= lastLane; lane++) {
    const take = takes[lane];
    if (!take) continue;
    const top = lane * lanePx - scrollTopPx;
    context.fillStyle = palette().line;
    context.fillRect(0, top + lanePx - 1, widthPx, 1);
    const { startTick, endTick } = rangeOfTake(scene.time, take);
    const [left, right] = [view.x(startTick), view.x(endTick)];
    if (left > widthPx || right < 0) continue;
    const box = { left, width: Math.max(2, right - left), top: top + INSET_PX, height: lanePx - 1 - 2 * INSET_PX, widthPx };
    fillRange(context, box, withAlpha(scene.color, 0.1));
    for (const piece of scene.comp) {
      if (piece.takeId !== take.id) continue;
      const pieceLeft = view.x(piece.startTick);
      fillRange(context, { ...box, left: pieceLeft, width: Math.max(2, view.x(piece.endTick) - pieceLeft) }, withAlpha(scene.color, 0.42));
    }
    drawContent(context, scene, take, box, secs);
  }
  if (selected) drawSelected(context, scene, selected, heightPx);
}

type Box = { left: number; width: number; top: number; height: number; widthPx: number };

/** Fills the visible part of a box, because filling a long path is slow. */
function fillRange(context: CanvasRenderingContext2D, box: Box, color: string): void {
  const left = Math.max(-8, box.left);
  const right = Math.min(box.widthPx + 8, box.left + box.width - 1);
  if (right <= left) return;
  context.beginPath();
  context.roundRect(left, box.top, right - left, box.height, 3);
  context.fillStyle = color;
  context.fill();
}

function drawContent(context: CanvasRenderingContext2D, scene: TakesScene, take: Take, box: Box, secs: Float64Array): void {
  const color = withAlpha(scene.color, 0.9);
  if (take.type === 'midi') {
    drawNotes(context, scene.view, take, color, box);
    return;
  }
  const id = fileIdOf(take);
  const waveform = id === null ? null : scene.waveformOf(id);
  if (!waveform) return;
  const source = sourceOfItem(scene.time, take);
  const startSecs = secsAtTick(scene.time.tempoMap, take.start_tick);
  drawWaveform(context, { item: take, source, lengthFrames: lengthFramesOf(scene.time, take), waveform, startSecs, secs }, color, box);
}

function drawNotes(context: CanvasRenderingContext2D, view: TimeView, take: MidiItem, color: string, box: Box): void {
  let [lowest, highest] = [127, 0];
  for (const { pitch } of take.notes) [lowest, highest] = [Math.min(lowest, pitch), Math.max(highest, pitch)];
  const range = Math.max(7, highest - lowest);
  context.fillStyle = color;
  for (const note of take.notes) {
    const x = view.x(take.start_tick + note.tick);
    const width = Math.max(2, note.length_ticks / view.ticksPerPx - 0.5);
    if (x > box.widthPx || x + width < 0) continue;
    const share = 0.5 - (note.pitch - (lowest + highest) / 2) / range;
    context.fillRect(x, Math.round(box.top + 3 + (box.height - 8) * share), width, 2);
  }
}

function drawSelected(context: CanvasRenderingContext2D, { view, lanePx, scrollTopPx }: TakesScene, selected: NonNullable<TakesScene['selected']>, heightPx: number): void {
  const top = selected.lane * lanePx - scrollTopPx;
  const { accent } = palette();
  if (selected.range) {
    const left = view.x(selected.range.startTick);
    context.fillStyle = withAlpha(accent, 0.25);
    context.fillRect(left, top, view.x(selected.range.endTick) - left, lanePx - 1);
    context.strokeStyle = accent;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, view.x(selected.range.endTick) - left - 1, lanePx - 2);
  }
  if (selected.cursorTick === null) return;
  context.fillStyle = accent;
  context.fillRect(0, top, 2, lanePx - 1);
  context.fillRect(Math.round(view.x(selected.cursorTick)), Math.max(0, top), 1, Math.min(heightPx, lanePx - 1));
}
