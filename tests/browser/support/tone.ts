/** Generates audio files for tests. */

/**
 * Returns a mono 16-bit WAV file with a sine of -6 dBFS, which advances by 0.06 radians in each
 * frame.
 */
export function toneWav(sampleRateHz: number, frames: number): Buffer {
  const header = Buffer.alloc(44);
  const data = Buffer.alloc(frames * 2);
  for (let frame = 0; frame < frames; frame++) data.writeInt16LE(Math.round(16_384 * Math.sin(frame * 0.06)), frame * 2);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
