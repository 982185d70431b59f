/** Waveforms: the lowest and highest samples of each part of a file. */

export type Waveform = {
  /** Frames of one pixel. */
  framesPerPixel: number;
  pixels: number;
  channels: number;
  /** Lowest and highest sample of each channel, pixel by pixel; full scale is 127. */
  values: Int8Array;
};

const HEADER_BYTES = 24;

/**
 * Reads the binary peaks of BBC audiowaveform, version 2, with 8 bits.
 * @throws {RangeError} if the bytes have another format.
 */
export function readWaveform(bytes: ArrayBuffer): Waveform {
  const view = new DataView(bytes);
  const version = view.getInt32(0, true);
  const eightBits = (view.getUint32(4, true) & 1) === 1;
  if (version !== 2 || !eightBits) throw new RangeError('these are no 8-bit peaks of version 2');
  const framesPerPixel = view.getInt32(12, true);
  const pixels = view.getUint32(16, true);
  const channels = view.getInt32(20, true);
  return { framesPerPixel, pixels, channels, values: new Int8Array(bytes, HEADER_BYTES, pixels * channels * 2) };
}

/** Lowest and highest sample of all channels between two frames, -1..1; null after the end. */
export function rangeOf(waveform: Waveform, fromFrame: number, toFrame: number): [least: number, greatest: number] | null {
  const { framesPerPixel, pixels, channels, values } = waveform;
  const first = Math.max(0, Math.floor(fromFrame / framesPerPixel));
  const last = Math.min(pixels - 1, Math.max(first, Math.ceil(toFrame / framesPerPixel) - 1));
  if (first >= pixels) return null;
  let least = 127;
  let greatest = -128;
  for (let at = first * channels * 2; at < (last + 1) * channels * 2; at += 2) {
    least = Math.min(least, values[at] ?? 0);
    greatest = Math.max(greatest, values[at + 1] ?? 0);
  }
  return [least / 127, greatest / 127];
}
