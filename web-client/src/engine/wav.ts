/** Reads the WAV files of 32-bit float samples that the service sends. */

/** The samples of each channel, and their sample rate. */
export type FloatAudio = { channels: Float32Array<ArrayBuffer>[]; sampleRateHz: number };

/** Maximum number of channels of a file that the page reads. */
const CHANNELS_MAX = 8;
/** Format tags of WAVE files, from Microsoft's mmreg.h. */
const FORMAT_FLOAT = 3;
const FORMAT_EXTENSIBLE = 0xfffe;

function chunkIdAt(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

/** The position and format of the samples in a WAV file. */
export type FloatWavLayout = {
  channels: number;
  sampleRateHz: number;
  /** Number of bytes before the first sample. */
  startBytes: number;
  frames: number;
};

/**
 * Reads the layout of a WAV file of 32-bit float samples from its first bytes.
 *
 * @throws {Error} if the bytes have another format, which the message names, or have no samples.
 */
export function readFloatWavLayout(bytes: ArrayBuffer): FloatWavLayout {
  const view = new DataView(bytes);
  if (bytes.byteLength < 12 || chunkIdAt(view, 0) !== 'RIFF' || chunkIdAt(view, 8) !== 'WAVE') {
    throw new Error(`The service sent ${bytes.byteLength} bytes that are not a WAV file.`);
  }
  let channels = 0;
  let sampleRateHz = 0;
  for (let offset = 12; offset + 8 <= bytes.byteLength; ) {
    const chunkId = chunkIdAt(view, offset);
    const chunkBytes = view.getUint32(offset + 4, true);
    const chunkStart = offset + 8;
    const chunkEnd = Math.min(chunkStart + chunkBytes, bytes.byteLength);
    if (chunkId === 'fmt ' && chunkEnd - chunkStart >= 16) {
      let format = view.getUint16(chunkStart, true);
      if (format === FORMAT_EXTENSIBLE && chunkEnd - chunkStart >= 26) format = view.getUint16(chunkStart + 24, true);
      const bits = view.getUint16(chunkStart + 14, true);
      channels = view.getUint16(chunkStart + 2, true);
      sampleRateHz = view.getUint32(chunkStart + 4, true);
      if (format !== FORMAT_FLOAT || bits !== 32 || channels < 1 || channels > CHANNELS_MAX) {
        throw new Error(`The audio has ${channels} channels of ${bits} bits, format ${format}; the page reads up to ${CHANNELS_MAX} channels of 32-bit float.`);
      }
    } else if (chunkId === 'data' && channels > 0) {
      return { channels, sampleRateHz, startBytes: chunkStart, frames: Math.floor(chunkBytes / (4 * channels)) };
    }
    offset = chunkStart + chunkBytes + (chunkBytes % 2);
  }
  throw new Error(`The first ${bytes.byteLength} bytes of the WAV file contain no samples.`);
}

/**
 * Reads the channels of a WAV file of 32-bit float samples. If the file is truncated, reads the
 * frames that it has.
 *
 * @throws {Error} if the bytes have another format, which the message names, or have no samples.
 */
export function readFloatWav(bytes: ArrayBuffer): FloatAudio {
  const { channels, sampleRateHz, startBytes, frames } = readFloatWavLayout(bytes);
  const availableFrames = Math.min(frames, Math.floor((bytes.byteLength - startBytes) / (4 * channels)));
  return { channels: splitChannels(new DataView(bytes), startBytes, availableFrames, channels), sampleRateHz };
}

/** Separates interleaved 32-bit float samples in the byte order of WAV files into channels. */
export function readFloatSamples(bytes: ArrayBuffer, channels: number): Float32Array<ArrayBuffer>[] {
  return splitChannels(new DataView(bytes), 0, Math.floor(bytes.byteLength / (4 * channels)), channels);
}

function splitChannels(view: DataView, start: number, frames: number, channelCount: number): Float32Array<ArrayBuffer>[] {
  const interleaved = samplesOf(view, start, frames * channelCount);
  return Array.from({ length: channelCount }, (_, channel) => {
    const samples = new Float32Array(frames);
    for (let frame = 0, index = channel; frame < frames; frame++, index += channelCount) samples[frame] = interleaved[index] as number;
    return samples;
  });
}

/** Whether this computer stores numbers in the byte order of WAV files. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Returns samples of a WAV file. They are not copied if they are aligned, as in most files. */
function samplesOf(view: DataView, start: number, count: number): Float32Array {
  const { buffer, byteOffset } = view;
  const offset = byteOffset + start;
  if (IS_LITTLE_ENDIAN && offset % Float32Array.BYTES_PER_ELEMENT === 0) return new Float32Array(buffer, offset, count);
  return Float32Array.from({ length: count }, (_, index) => view.getFloat32(start + index * Float32Array.BYTES_PER_ELEMENT, true));
}
