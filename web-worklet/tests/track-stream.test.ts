/** Tests which blocks of a track's audio are kept, wanted and played. */
import { describe, expect, it } from 'vitest';
import { KEPT_BLOCKS_MAX, TrackStream, type LoopRegion } from '../src/track-stream';

const BLOCK = 100;

/** Returns a block whose samples are their frames in the song, in all four channels. */
function ramp(startFrame: number, frames = BLOCK): Float32Array[] {
  return Array.from({ length: 4 }, () => Float32Array.from({ length: frames }, (_, frame) => startFrame + frame));
}

/** Fetches all blocks that a stream wants at a position. Returns their first frames. */
function fetchAt(stream: TrackStream, position: number, loop: LoopRegion | null = null): number[] {
  const wanted = stream.wanted(position, loop);
  for (const startFrame of wanted) stream.fill(startFrame, ramp(startFrame, Math.min(BLOCK, stream.frames - startFrame)), position, loop);
  return wanted;
}

function read(stream: TrackStream, position: number, frames: number): number[] {
  const buffers = Array.from({ length: 4 }, () => new Float32Array(frames));
  stream.read(position, frames, buffers);
  for (const buffer of buffers) expect(buffer).toEqual(buffers[0]);
  return [...(buffers[0] as Float32Array)];
}

describe('a stream of a track', () => {
  it('wants the blocks from the playhead on, and frees those behind it', () => {
    const stream = new TrackStream(1, 1_050, BLOCK);
    expect(fetchAt(stream, 0)).toEqual([0, 100, 200]);
    expect(fetchAt(stream, 0)).toEqual([]);
    expect(fetchAt(stream, 130)).toEqual([300]);
    expect(stream.has(30), 'the block behind the current one is kept').toBe(true);
    expect(fetchAt(stream, 250)).toEqual([400]);
    expect(stream.has(30)).toBe(false);
    expect(fetchAt(stream, 990), 'a seek').toEqual([900, 1_000]);
    expect(fetchAt(stream, 2_000), 'after the end').toEqual([]);
    expect(stream.has(2_000)).toBe(true);
  });

  it('never keeps more than its maximum of blocks, in a loop either', () => {
    const stream = new TrackStream(1, 100_000, BLOCK);
    const loop = { startFrame: 1_030, endFrame: 5_000 };
    const blockBytes = 4 * 4 * BLOCK;
    let most = 0;
    for (let position = 0; position < 5_000; position += 37) {
      fetchAt(stream, position, loop);
      most = Math.max(most, stream.keptBytes);
    }
    expect(most).toBe(KEPT_BLOCKS_MAX * blockBytes);
    expect(fetchAt(stream, 1_030, loop), 'the start of the loop has arrived before the jump').toEqual([1_200]);
    expect(fetchAt(stream, 6_000, loop), 'after the loop').toEqual([6_000, 6_100, 6_200]);
  });

  it('plays the samples exactly, across blocks and up to the end', () => {
    const stream = new TrackStream(1, 250, BLOCK);
    fetchAt(stream, 0);
    expect(read(stream, 90, 20)).toEqual(Array.from({ length: 20 }, (_, frame) => 90 + frame));
    expect(read(stream, 245, 10)).toEqual([245, 246, 247, 248, 249, 0, 0, 0, 0, 0]);
    expect(stream.underruns).toBe(0);
  });

  it('fades into a missing block and back, and counts the interruption once', () => {
    const stream = new TrackStream(1, 10_000, BLOCK);
    fetchAt(stream, 0);
    read(stream, 0, 300);
    const missing = read(stream, 300, 1_500);
    expect(missing[0]).toBeCloseTo(299 * 0.985, 3);
    expect(missing.at(-1)).toBe(0);
    read(stream, 1_800, 10);
    expect(stream.underruns).toBe(1);
    fetchAt(stream, 1_810);
    const back = read(stream, 1_810, 200);
    expect(back[0], 'no step').toBe(0);
    expect(back[199]).toBeCloseTo(2_009 - 1_810 * 0.985 ** 199, 1);
    stream.cut();
    expect(read(stream, 1_900, 1), 'a seek ends the fade').toEqual([1_900]);
  });
});
