/** Waveforms for drawing: the lowest and highest sample of each short part of an audio file. */

export type Waveform = {
  /** Number of frames that one pixel covers. */
  framesPerPixel: number;
  pixels: number;
  channels: number;
  /** Lowest and highest sample of each channel, pixel by pixel; full scale is 127. */
  values: Int8Array;
};

/** Size of the header in audiowaveform's data format, version 2. */
const HEADER_BYTES = 24;

/**
 * Reads 8-bit peaks in the binary data format of BBC audiowaveform, version 2.
 * @throws {RangeError} if the bytes have another format.
 */
export function readWaveform(bytes: ArrayBuffer): Waveform {
  const view = new DataView(bytes);
  const version = view.getInt32(0, true);
  if (version !== 2) throw new RangeError(`the waveform has version ${version}; the page reads version 2; reload the page`);
  const hasEightBits = (view.getUint32(4, true) & 1) === 1;
  if (!hasEightBits) throw new RangeError('the waveform has 16-bit peaks; the page reads 8-bit peaks; reload the page');
  const framesPerPixel = view.getInt32(12, true);
  const pixels = view.getUint32(16, true);
  const channels = view.getInt32(20, true);
  return { framesPerPixel, pixels, channels, values: new Int8Array(bytes, HEADER_BYTES, pixels * channels * 2) };
}

/**
 * Returns the lowest and highest sample, -1..1, of all channels between two frames; null if the
 * frames are after the end of the file.
 */
export function rangeOf(waveform: Waveform, fromFrame: number, toFrame: number): [least: number, greatest: number] | null {
  const { framesPerPixel, pixels, channels, values } = waveform;
  const firstPixel = Math.max(0, Math.floor(fromFrame / framesPerPixel));
  const lastPixel = Math.min(pixels - 1, Math.max(firstPixel, Math.ceil(toFrame / framesPerPixel) - 1));
  if (firstPixel >= pixels) return null;
  let lowest = 127;
  let greatest = -128;
  for (let index = firstPixel * channels * 2; index < (lastPixel + 1) * channels * 2; index += 2) {
    lowest = Math.min(lowest, values[index] ?? 0);
    greatest = Math.max(greatest, values[index + 1] ?? 0);
  }
  return [lowest / 127, greatest / 127];
}
