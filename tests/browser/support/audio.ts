/** Reading and comparing audio. */
import type { Recording } from './capture';

/** Reads the samples of a stereo 32-bit float WAV file. */
export function readFloatWav(file: Buffer): Recording & { sampleRateHz: number } {
  let sampleRateHz = 0;
  for (let offset = 12; offset + 8 <= file.length; ) {
    const id = file.toString('latin1', offset, offset + 4);
    const size = file.readUInt32LE(offset + 4);
    if (id === 'fmt ') sampleRateHz = file.readUInt32LE(offset + 12);
    if (id === 'data') {
      const frames = size / 8;
      const [left, right] = [new Float32Array(frames), new Float32Array(frames)];
      for (let frame = 0; frame < frames; frame++) {
        left[frame] = file.readFloatLE(offset + 8 + frame * 8);
        right[frame] = file.readFloatLE(offset + 12 + frame * 8);
      }
      return { left, right, sampleRateHz };
    }
    offset += 8 + size + (size % 2);
  }
  throw new Error('the WAV file has no data chunk');
}

export function peak(values: Float32Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  return largest;
}

/** Returns the first frame whose magnitude is above a level, which is 0 by default. */
export function firstSound({ left, right }: Recording, level = 0): number {
  const frame = left.findIndex((value, index) => Math.abs(value) > level || Math.abs(right[index] ?? 0) > level);
  if (frame < 0) throw new Error(`no sample of the recording is above ${level}`);
  return frame;
}

/**
 * Returns the largest difference of two recordings and the number of compared frames. The
 * recordings are aligned at their first frames above a level.
 */
export function largestDifference(a: Recording, b: Recording, level = 0): { difference: number; frames: number } {
  const [startA, startB] = [firstSound(a, level), firstSound(b, level)];
  const lead = Math.min(startA, startB);
  const frames = Math.min(a.left.length - startA, b.left.length - startB) + lead;
  let difference = 0;
  for (const side of ['left', 'right'] as const) {
    for (let frame = 0; frame < frames; frame++) {
      const [valueA, valueB] = [a[side][startA - lead + frame] ?? 0, b[side][startB - lead + frame] ?? 0];
      difference = Math.max(difference, Math.abs(valueA - valueB));
    }
  }
  return { difference, frames };
}

/** Frames of a signal, from `start` to before `end`. */
export type FrameRange = { start: number; end: number };

/**
 * Returns the ranges of frames of `a` in which it equals `b` within a tolerance, as `b` is
 * `offset` frames later in `a`. Shorter ranges than `least` frames are left out.
 */
export function equalRanges(a: Recording, b: Recording, { offset, tolerance, least }: { offset: number; tolerance: number; least: number }): FrameRange[] {
  const ranges: FrameRange[] = [];
  const end = Math.min(a.left.length, b.left.length + offset);
  const differs = (frame: number): boolean =>
    (['left', 'right'] as const).some((side) => Math.abs((a[side][frame] ?? 0) - (b[side][frame - offset] ?? 0)) > tolerance);
  for (let start = Math.max(0, offset), frame = start; frame <= end; frame++) {
    if (frame < end && !differs(frame)) continue;
    if (frame - start >= least) ranges.push({ start, end: frame });
    start = frame + 1;
  }
  return ranges;
}

/** Returns the largest difference of neighbouring values from `start` to before `end`. */
export function largestStep(values: Float32Array, { start, end }: FrameRange): number {
  let largest = 0;
  for (let frame = Math.max(1, start); frame < Math.min(end, values.length); frame++) {
    largest = Math.max(largest, Math.abs((values[frame] ?? 0) - (values[frame - 1] ?? 0)));
  }
  return largest;
}
