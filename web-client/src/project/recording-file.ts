/** The file of a recording: a WAV file of 32-bit floats whose header does not know its length. */

/** Length of the header in bytes. */
export const RECORDING_HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 4;
/** Format tag of IEEE floats in WAV files. */
const FORMAT_FLOAT = 3;
/** A size with this value says that the length is unknown. */
const UNKNOWN_SIZE = 0xffff_ffff;

export function recordingHeader(rateHz: number, channelCount: number): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(RECORDING_HEADER_BYTES));
  const text = (offset: number, letters: string): void =>
    [...letters].forEach((character, index) => header.setUint8(offset + index, character.charCodeAt(0)));
  const frameBytes = channelCount * BYTES_PER_SAMPLE;
  text(0, 'RIFF');
  header.setUint32(4, UNKNOWN_SIZE, true);
  text(8, 'WAVEfmt ');
  header.setUint32(16, 16, true);
  header.setUint16(20, FORMAT_FLOAT, true);
  header.setUint16(22, channelCount, true);
  header.setUint32(24, rateHz, true);
  header.setUint32(28, rateHz * frameBytes, true);
  header.setUint16(32, frameBytes, true);
  header.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  text(36, 'data');
  header.setUint32(40, UNKNOWN_SIZE, true);
  return new Uint8Array(header.buffer);
}

/** Returns the samples of some frames, interleaved, as bytes of the file. */
export function interleave(channels: readonly Float32Array[]): Uint8Array<ArrayBuffer> {
  const frames = channels[0]?.length ?? 0;
  const bytes = new DataView(new ArrayBuffer(frames * channels.length * BYTES_PER_SAMPLE));
  channels.forEach((channel, number) =>
    channel.forEach((value, frame) => bytes.setFloat32((frame * channels.length + number) * BYTES_PER_SAMPLE, value, true)),
  );
  return new Uint8Array(bytes.buffer);
}

/** Returns the number of whole frames in a file of a length. */
export function framesInFile(fileBytes: number, channelCount: number): number {
  return Math.max(0, Math.floor((fileBytes - RECORDING_HEADER_BYTES) / (channelCount * BYTES_PER_SAMPLE)));
}
