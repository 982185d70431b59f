/** Reading and comparing audio. */
import type { Recording } from './capture';

/** The samples of a stereo 32-bit float WAV file. */
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
  throw new Error('no data chunk');
}

export function peak(values: Float32Array): number {
  let highest = 0;
  for (const value of values) highest = Math.max(highest, Math.abs(value));
  return highest;
}

/** The first frame whose magnitude is above a level, by default silence. */
export function firstSound({ left, right }: Recording, level = 0): number {
  const frame = left.findIndex((value, index) => Math.abs(value) > level || Math.abs(right[index] ?? 0) > level);
  if (frame < 0) throw new Error('all silent');
  return frame;
}

/**
 * Largest difference of two recordings over their common frames, aligned at the first frame above a
 * level.
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
