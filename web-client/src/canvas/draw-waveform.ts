import type { AudioSourceInfo } from '../project/audio-time';
import type { AudioItem, TempoPoint } from '../project/model';
import { secsAtTick } from '../project/tempo';
import { rangeOf, type Waveform } from '../project/waveform';
import { withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/**
 * Returns the times of the left edges of the pixel columns, and of the right edge of the last one,
 * in seconds of the song.
 */
export function secsOfColumns(view: TimeView, tempoMap: readonly TempoPoint[], widthPx: number): Float64Array {
  const secs = new Float64Array(Math.ceil(widthPx) + 1);
  let index = 0;
  let secsAtPoint = 0;
  for (let column = 0; column < secs.length; column++) {
    const tick = view.tick(column);
    for (let nextPoint = tempoMap[index + 1]; nextPoint && nextPoint.tick <= tick; nextPoint = tempoMap[index + 1]) {
      secsAtPoint = secsAtTick(tempoMap, nextPoint.tick);
      index += 1;
    }
    const { tick: start, bpm } = tempoMap[index] ?? { tick: 0, bpm: 120 };
    secs[column] = secsAtPoint + ((tick - start) * 60) / (bpm * 960);
  }
  return secs;
}

export type WaveformBox = { left: number; width: number; top: number; height: number; widthPx: number };

export type WaveformScene = {
  item: AudioItem;
  source: AudioSourceInfo;
  lengthFrames: number;
  waveform: Waveform;
  /** Start of the item, in seconds from the start of the song. */
  startSecs: number;
  /** Times of the pixel columns from {@link secsOfColumns}. */
  secs: Float64Array;
};

/** Returns the linear gain, 0..1, of the fades at a frame of an item. */
export function fadeGain(item: AudioItem, frame: number, lengthFrames: number): number {
  const { in_frames: fadeIn = 0, out_frames: fadeOut = 0 } = item.fades ?? {};
  const fadeInGain = fadeIn > 0 ? Math.min(1, frame / fadeIn) : 1;
  const fadeOutGain = fadeOut > 0 ? Math.min(1, (lengthFrames - frame) / fadeOut) : 1;
  return Math.max(0, fadeInGain) * Math.max(0, fadeOutGain);
}

/** Draws the waveform of an audio item, scaled by the gain and the fades of the item. */
export function drawWaveform(context: CanvasRenderingContext2D, scene: WaveformScene, color: string, box: WaveformBox): void {
  const { item, source, lengthFrames, waveform, startSecs, secs } = scene;
  const gain = 10 ** ((item.gain_db ?? 0) / 20);
  const offsetFrames = item.offset_frames ?? 0;
  const availableFrames = Math.max(1, source.frames - offsetFrames);
  const middle = box.top + box.height / 2;
  const right = Math.min(box.widthPx, box.left + box.width, secs.length - 1);
  context.fillStyle = color;
  for (let x = Math.max(0, Math.ceil(box.left)); x < right; x++) {
    const fromFrame = ((secs[x] ?? 0) - startSecs) * source.sampleRateHz;
    const toFrame = ((secs[x + 1] ?? 0) - startSecs) * source.sampleRateHz;
    if (toFrame <= 0 || fromFrame >= lengthFrames) continue;
    const frame = item.loop ? Math.max(0, fromFrame) % availableFrames : Math.max(0, fromFrame);
    const range = frame >= availableFrames ? null : rangeOf(waveform, offsetFrames + frame, offsetFrames + frame + toFrame - fromFrame);
    if (!range) continue;
    const scale = (gain * fadeGain(item, (fromFrame + toFrame) / 2, lengthFrames) * box.height) / 2;
    const highPx = Math.min(box.height / 2, Math.max(0, range[1]) * scale);
    const lowPx = Math.max(-box.height / 2, Math.min(0, range[0]) * scale);
    context.fillRect(x, middle - highPx, 1, Math.max(1, highPx - lowPx));
  }
}

/** Draws a sloping line for each fade, over the waveform. */
export function drawFades(context: CanvasRenderingContext2D, fadePx: { in: number; out: number }, color: string, box: WaveformBox): void {
  const { left, width, top, height } = box;
  context.strokeStyle = withAlpha(color, 0.9);
  context.lineWidth = 1;
  context.beginPath();
  if (fadePx.in > 1) {
    context.moveTo(left, top + height);
    context.lineTo(left + fadePx.in, top);
  }
  if (fadePx.out > 1) {
    context.moveTo(left + width, top + height);
    context.lineTo(left + width - fadePx.out, top);
  }
  context.stroke();
}
