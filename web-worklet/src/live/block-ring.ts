/**
 * Blocks of audio between the audio thread and the worker of a live chain, in shared memory or, if
 * the page has none, in the memory of each of both.
 */

/** Frames of a block of the service. */
export const BLOCK_FRAMES = 256;
/** Values of a block: left and right of each frame, interleaved. */
export const BLOCK_VALUES = 2 * BLOCK_FRAMES;
/** Blocks that the audio thread sends at a time. */
export const BATCH_BLOCKS = 4;
/** Most blocks from sending to playing that a user may choose. */
export const BUFFER_CHOICE_MAX = 240;
/** Slots of a ring: twice the largest queue, so that a reader never meets its writer. */
const SLOTS = 512;
/** Numbers before the slots: only that of the newest block. */
const HEAD_INTS = 4;
/** Numbers of a slot: that of its block, its flags, and the low and high part of its position. */
const SLOT_INTS = 4;
const HIGH_PART = 2 ** 32;

/** The audio state of the chain is cleared before this block. */
export const FLAG_FLUSH = 1;
/** The song plays during this block. */
export const FLAG_PLAYING = 2;

/** Bytes of the memory of a ring. */
export const RING_BYTES = 4 * (HEAD_INTS + SLOTS * (SLOT_INTS + BLOCK_VALUES));

/** The properties of a block, without its audio. */
export type BlockHeader = {
  /** Number of the block, from 1 on. */
  number: number;
  flags: number;
  /** Position of the first frame in the song, in frames. */
  songFrame: number;
};

/** One thread writes blocks with ascending numbers; another reads them by their numbers. */
export class BlockRing {
  readonly #ints: Int32Array;
  readonly #values: Float32Array[];

  constructor(memory: ArrayBufferLike = new ArrayBuffer(RING_BYTES)) {
    this.#ints = new Int32Array(memory, 0, HEAD_INTS + SLOTS * SLOT_INTS);
    const start = this.#ints.byteLength;
    this.#values = Array.from({ length: SLOTS }, (_, slot) => new Float32Array(memory, start + 4 * BLOCK_VALUES * slot, BLOCK_VALUES));
  }

  /** Number of the newest published block; 0 before the first. */
  get newest(): number {
    return Atomics.load(this.#ints, 0);
  }

  /**
   * Writes a block. If `publishes` is true, the reader learns of this block and of those before it.
   * Allocates nothing.
   */
  put({ number, flags, songFrame }: BlockHeader, values: Float32Array, publishes: boolean): void {
    const slot = number % SLOTS;
    const first = HEAD_INTS + slot * SLOT_INTS;
    const ints = this.#ints;
    // A reader of the block that was here notices that it is being replaced.
    Atomics.store(ints, first, 0);
    Atomics.store(ints, first + 1, flags);
    Atomics.store(ints, first + 2, songFrame % HIGH_PART | 0);
    Atomics.store(ints, first + 3, Math.floor(songFrame / HIGH_PART));
    this.#values[slot]?.set(values);
    Atomics.store(ints, first, number);
    if (!publishes) return;
    Atomics.store(ints, 0, number);
    Atomics.notify(ints, 0);
  }

  /** Copies the values of a block; returns false if the ring does not have it (any more). */
  read(number: number, values: Float32Array): boolean {
    const slot = number % SLOTS;
    const first = HEAD_INTS + slot * SLOT_INTS;
    const source = this.#values[slot];
    if (!source || Atomics.load(this.#ints, first) !== number) return false;
    values.set(source);
    return Atomics.load(this.#ints, first) === number;
  }

  /** Returns the header of a block that the ring has. */
  header(number: number): BlockHeader {
    const first = HEAD_INTS + (number % SLOTS) * SLOT_INTS;
    const [flags, low, high] = [1, 2, 3].map((offset) => Atomics.load(this.#ints, first + offset));
    return { number, flags: flags ?? 0, songFrame: ((low ?? 0) >>> 0) + HIGH_PART * (high ?? 0) };
  }

  /**
   * Resolves when the newest block is another one than `number`; null if this browser cannot wait
   * for shared memory without blocking.
   */
  changed(number: number): Promise<unknown> | null {
    const { waitAsync } = Atomics as unknown as WaitingAtomics;
    if (!waitAsync) return null;
    const { value } = waitAsync(this.#ints, 0, number);
    return Promise.resolve(value);
  }
}

/** `Atomics.waitAsync` (ECMAScript 2024), which the used library of types lacks. */
type WaitingAtomics = { waitAsync?: (ints: Int32Array, index: number, value: number) => { value: Promise<string> | string } };

/** Whether this page can share memory with a worker that waits for it without blocking. */
export function canShareMemory(): boolean {
  return globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined' && 'waitAsync' in Atomics;
}
