/**
 * Streams a track's audio that was rendered outside the engine: keeps the blocks around the
 * playhead and says which blocks it needs next. A missing block is silent.
 */

/** Number of channels: left, right, reverb send and chorus send. */
export const STREAM_CHANNELS = 4;

/** Number of blocks, the current one included, that a stream keeps ahead of the playhead. */
const AHEAD_BLOCKS = 3;
/** Number of blocks that a stream keeps from the start of a loop on. */
const LOOP_START_BLOCKS = 2;
/** Maximum number of blocks that a stream keeps: also the one before the current block. */
export const KEPT_BLOCKS_MAX = 1 + AHEAD_BLOCKS + LOOP_START_BLOCKS;

/** Factor of a fade-out for each frame, which avoids a click: to a hundredth in 300 frames. */
const FADE = 0.985;
/** Magnitude below which a fade-out is silent. */
const SILENT = 1e-6;

/** A loop of the session, in frames. */
export type LoopRegion = { startFrame: number; endFrame: number };

/** The left and right channel, the reverb send and the chorus send of a block. */
export type StreamBlock = readonly Float32Array[];

export class TrackStream {
  /** Number that the page gave this audio. A block for other audio of the track is ignored. */
  readonly version: number;
  /** Length of the audio in frames. */
  readonly frames: number;
  readonly blockFrames: number;
  /** Number of interruptions by missing blocks. */
  underruns = 0;
  readonly #blocks = new Map<number, StreamBlock>();
  #isMissing = false;
  /** The last frame that was played, and the difference to the audio that decays. */
  readonly #last = new Float64Array(STREAM_CHANNELS);
  readonly #offset = new Float64Array(STREAM_CHANNELS);

  constructor(version: number, frames: number, blockFrames: number) {
    this.version = version;
    this.frames = frames;
    this.blockFrames = blockFrames;
  }

  /** Bytes of the blocks that the stream keeps. */
  get keptBytes(): number {
    return this.#blocks.size * this.blockFrames * STREAM_CHANNELS * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Whether the frame at a position can be played. After the end of the audio is silence. */
  has(position: number): boolean {
    return position >= this.frames || this.#blocks.has(Math.floor(position / this.blockFrames));
  }

  /** Stores the block that begins at a frame, if the stream still needs it. */
  fill(startFrame: number, block: StreamBlock, position: number, loop: LoopRegion | null): void {
    const index = startFrame / this.blockFrames;
    if (this.#needed(position, loop).includes(index)) this.#blocks.set(index, block);
  }

  /**
   * Frees the blocks that are not needed around a position. Returns the first frames of the missing
   * blocks, the most urgent one first.
   */
  wanted(position: number, loop: LoopRegion | null): number[] {
    const needed = this.#needed(position, loop);
    const current = Math.floor(position / this.blockFrames);
    for (const index of this.#blocks.keys()) if (index !== current - 1 && !needed.includes(index)) this.#blocks.delete(index);
    return needed.filter((index) => !this.#blocks.has(index)).map((index) => index * this.blockFrames);
  }

  /** Forgets the signal before a seek, of which nothing fades out after it. */
  cut(): void {
    this.#isMissing = false;
    this.#last.fill(0);
    this.#offset.fill(0);
  }

  /** Writes the frames from a position on to the start of `buffers`. Allocates nothing. */
  read(position: number, frames: number, buffers: readonly Float32Array[]): void {
    for (let done = 0; done < frames; ) {
      const frame = position + done;
      const index = Math.floor(frame / this.blockFrames);
      const offset = frame - index * this.blockFrames;
      const count = Math.min(frames - done, this.blockFrames - offset);
      this.#readBlock(this.has(frame) ? (this.#blocks.get(index) ?? null) : undefined, offset, done, count, buffers);
      done += count;
    }
  }

  /** Reads from a block; null is the silence after the end, and undefined a missing block. */
  #readBlock(block: StreamBlock | null | undefined, offset: number, done: number, count: number, buffers: readonly Float32Array[]): void {
    const isMissing = block === undefined;
    const hasChanged = isMissing !== this.#isMissing;
    if (isMissing && hasChanged) this.underruns += 1;
    this.#isMissing = isMissing;
    for (let channel = 0; channel < buffers.length; channel++) {
      const buffer = buffers[channel] as Float32Array;
      const audio = block?.[channel];
      let last = this.#last[channel] as number;
      // After an interruption, the step to the audio decays.
      let difference = hasChanged && !isMissing ? last - (audio?.[offset] ?? 0) : (this.#offset[channel] as number);
      for (let frame = 0; frame < count; frame++) {
        last = isMissing ? faded(last) : (audio?.[offset + frame] ?? 0) + difference;
        if (difference !== 0) difference = faded(difference);
        buffer[done + frame] = last;
      }
      this.#last[channel] = last;
      this.#offset[channel] = isMissing ? 0 : difference;
    }
  }

  /** Returns the indices of the blocks that are played next, in the order of playing. */
  #needed(position: number, loop: LoopRegion | null): number[] {
    const needed: number[] = [];
    const add = (fromFrame: number, endFrame: number, count: number): void => {
      const first = Math.floor(fromFrame / this.blockFrames);
      const end = Math.ceil(Math.min(endFrame, this.frames) / this.blockFrames);
      for (let index = first; index < Math.min(end, first + count); index++) if (!needed.includes(index)) needed.push(index);
    };
    const isInLoop = loop !== null && position < loop.endFrame;
    add(position, isInLoop ? loop.endFrame : Infinity, AHEAD_BLOCKS);
    if (isInLoop) add(loop.startFrame, loop.endFrame, LOOP_START_BLOCKS);
    return needed;
  }
}

function faded(value: number): number {
  return Math.abs(value) < SILENT ? 0 : value * FADE;
}
