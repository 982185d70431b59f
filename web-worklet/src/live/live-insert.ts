/**
 * The part of a live chain on the audio thread: collects the input of a channel's effects in
 * blocks for the worker, and passes the processed blocks to the engine when they are due.
 */
import { BATCH_BLOCKS, BLOCK_FRAMES, BLOCK_VALUES, BlockRing, FLAG_FLUSH, FLAG_PLAYING, type BlockHeader } from './block-ring';
import type { ToAudioThread, ToWorker } from './messages';

/** Blocks from sending to playing: at first, at least, and at most. */
const BUFFER_FIRST = 12;
const BUFFER_LEAST = 8;
const BUFFER_MOST = 32;
/** Blocks by which the buffer grows after a late block. */
const BUFFER_STEP = 4;
/** After this many blocks that came early enough, the next start of playback has a smaller buffer. */
const SHRINK_AFTER = 1_875;
/** Blocks without sound after which a stopped song sends nothing. */
const IDLE_AFTER = 400;

/** The buffers of the engine for the insert. */
export type InsertBuffers = { input: [Float32Array, Float32Array]; output: [Float32Array, Float32Array] };

/** The port to the worker; a `MessagePort` without the parts that are not used. */
export type InsertPort = {
  postMessage: (message: ToWorker, transfer: Transferable[]) => void;
  onmessage: ((event: MessageEvent<ToAudioThread>) => void) | null;
};

export class LiveInsert {
  readonly #sent: BlockRing;
  readonly #returned: BlockRing;
  readonly #isShared: boolean;
  readonly #port: InsertPort;
  readonly #onLatency: () => void;
  readonly #onPrepared: () => void;
  readonly #block = new Float32Array(BLOCK_VALUES);
  readonly #answer = new Float32Array(BLOCK_VALUES);
  readonly #header: BlockHeader = { number: 1, flags: 0, songFrame: 0 };
  #batch = new Float32Array(BATCH_BLOCKS * BLOCK_VALUES);
  #headers: BlockHeader[] = [];
  /** Frames of the current block that have entered. */
  #filled = 0;
  /** Number of the first block after the last start. */
  #firstNumber = 1;
  /** Whether the audio before {@link #firstNumber} was cleared, so that silence precedes it. */
  #beganInSilence = false;
  /** Whether the next block clears the chain. */
  #flushes = true;
  /** The frame of the song for which the chain is being cleared; null if it is not. */
  #preparing: number | null = null;
  /** Whether the chain was cleared for the next start. */
  #isPrepared = false;
  /** Number of the block in {@link #answer}; 0 if it is missing. */
  #answerNumber = 0;
  #askedNumber = 0;
  #bufferBlocks: number;
  readonly #leastBlocks: number;
  readonly #mostBlocks: number;
  /** Latency of the chain; null while the service cannot be reached. */
  #chainFrames: number | null = null;
  /** The last known latency of the chain. The input keeps it while the service is out of reach. */
  #lastChainFrames = 0;
  /** The smallest number of blocks between the arrival of a block and its turn. */
  #leastSpare: number;
  /** Blocks since the last late one, or since the buffer changed. */
  #blocksSinceLate = 0;
  #silentBlocks: number;
  #isPlaying = false;
  #isIdle = false;
  #lateBlocks = 0;

  /**
   * `onLatency` is called when {@link latencyFrames} has changed, and `onPrepared` when the chain
   * is clear after {@link prepare}. `bufferBlocks` are the blocks from sending to playing at first
   * and at least; null for the usual ones.
   */
  constructor(
    port: InsertPort,
    rings: { sent: ArrayBufferLike; returned: ArrayBufferLike } | null,
    onLatency: () => void,
    onPrepared: () => void,
    bufferBlocks: number | null = null,
  ) {
    this.#bufferBlocks = bufferBlocks ?? BUFFER_FIRST;
    this.#leastBlocks = bufferBlocks ?? BUFFER_LEAST;
    this.#mostBlocks = Math.max(BUFFER_MOST, this.#bufferBlocks);
    this.#leastSpare = this.#mostBlocks;
    // A chain that opens while the song is stopped has had no sound that could be late.
    this.#silentBlocks = this.#mostBlocks + 1;
    this.#port = port;
    this.#isShared = rings !== null;
    this.#sent = new BlockRing(rings?.sent);
    this.#returned = new BlockRing(rings?.returned);
    this.#onLatency = onLatency;
    this.#onPrepared = onPrepared;
    port.onmessage = (event) => this.#receive(event.data);
  }

  /** Frames from the input to the output. */
  get latencyFrames(): number {
    return this.#bufferBlocks * BLOCK_FRAMES + this.#lastChainFrames;
  }

  /** Blocks that were due and had not arrived. */
  get lateBlocks(): number {
    return this.#lateBlocks;
  }

  /** Whether the chain is being cleared for a start of playback. */
  get isPreparing(): boolean {
    return this.#preparing !== null;
  }

  /** Ends the use of the port. */
  end(): void {
    this.#port.onmessage = null;
  }

  /** Whether the service processes blocks. */
  get isConnected(): boolean {
    return this.#chainFrames !== null;
  }

  /** Clears the chain for a start of playback at a frame of the song. */
  prepare(songFrame: number): void {
    this.#isPrepared = false;
    this.#preparing = songFrame;
    this.#isIdle = true;
    this.#port.postMessage({ type: 'prepare', songFrame, nextNumber: this.#header.number }, []);
  }

  /** Forgets {@link prepare}: the next start may be at another position. */
  cancel(): void {
    this.#preparing = null;
    this.#isPrepared = false;
  }

  /** Starts anew: the engine has cleared its audio, and the next block follows nothing. */
  start(): void {
    this.#begin();
    this.#beganInSilence = true;
    if (this.#blocksSinceLate >= SHRINK_AFTER && this.#leastSpare > BUFFER_STEP && this.#bufferBlocks > this.#leastBlocks) {
      this.#setBuffer(Math.max(this.#leastBlocks, this.#bufferBlocks - BUFFER_STEP));
    }
  }

  #begin(): void {
    this.#filled = 0;
    this.#firstNumber = this.#header.number;
    this.#beganInSilence = false;
    this.#flushes = !this.#isPrepared;
    this.#isPrepared = false;
    this.#preparing = null;
    this.#isIdle = false;
    this.#silentBlocks = 0;
  }

  /** Returns how many of the next frames belong to the same block. */
  framesOfBlock(frames: number): number {
    return Math.min(frames, BLOCK_FRAMES - this.#filled);
  }

  /**
   * Writes the output for the next frames, at most {@link framesOfBlock}. Returns false if it has
   * not arrived.
   */
  fill({ output: [left, right] }: InsertBuffers, frames: number): boolean {
    const number = this.#header.number - this.#bufferBlocks;
    if (number < this.#firstNumber && this.#beganInSilence) {
      left.fill(0, 0, frames);
      right.fill(0, 0, frames);
      return true;
    }
    if (this.#askedNumber !== number) this.#ask(number);
    if (this.#answerNumber !== number || this.#isIdle) return false;
    for (let frame = 0; frame < frames; frame += 1) {
      const index = 2 * (this.#filled + frame);
      left[frame] = this.#answer[index] ?? 0;
      right[frame] = this.#answer[index + 1] ?? 0;
    }
    return true;
  }

  /** Looks for the answer to a block, once. */
  #ask(number: number): void {
    this.#askedNumber = number;
    // Nobody hears that the silence of a stopped song is late, as while plugins open.
    const isAudible = this.#isPlaying || this.#silentBlocks <= this.#bufferBlocks;
    const isDue = number >= this.#firstNumber && isAudible && !this.#isIdle && this.#chainFrames !== null;
    this.#answerNumber = number > 0 && number >= this.#firstNumber && this.#returned.read(number, this.#answer) ? number : 0;
    if (!isDue) return;
    if (this.#answerNumber === number) {
      this.#leastSpare = Math.min(this.#leastSpare, this.#returned.newest - number);
      this.#blocksSinceLate += 1;
      return;
    }
    this.#lateBlocks += 1;
    this.#blocksSinceLate = 0;
    this.#leastSpare = this.#mostBlocks;
    // A larger buffer lets blocks that are a little late arrive before they are due.
    if (this.#bufferBlocks < this.#mostBlocks && this.#returned.newest >= this.#firstNumber) {
      this.#setBuffer(Math.min(this.#mostBlocks, this.#bufferBlocks + BUFFER_STEP));
    }
  }

  #setBuffer(blocks: number): void {
    this.#bufferBlocks = blocks;
    this.#leastSpare = this.#mostBlocks;
    this.#blocksSinceLate = 0;
    this.#onLatency();
  }

  /** Takes the frames that entered the insert; `songFrame` is the position of the first one. */
  take({ input: [left, right] }: InsertBuffers, frames: number, songFrame: number, isPlaying: boolean): void {
    if (this.#filled === 0) {
      this.#header.songFrame = songFrame;
      this.#header.flags = isPlaying ? FLAG_PLAYING : 0;
    }
    this.#isPlaying = isPlaying;
    let isSilent = true;
    for (let frame = 0; frame < frames; frame += 1) {
      const index = 2 * (this.#filled + frame);
      const [leftValue, rightValue] = [left[frame] ?? 0, right[frame] ?? 0];
      this.#block[index] = leftValue;
      this.#block[index + 1] = rightValue;
      if (leftValue !== 0 || rightValue !== 0) isSilent = false;
    }
    if (!isSilent) this.#silentBlocks = 0;
    if (this.#isIdle && !isSilent) {
      // Sound after a pause, as that of a key: the chain starts anew, and the block is complete.
      const filled = this.#filled;
      this.#begin();
      this.#filled = filled;
    }
    this.#filled += frames;
    if (this.#filled < BLOCK_FRAMES) return;
    this.#filled = 0;
    this.#silentBlocks += 1;
    if (this.#silentBlocks > IDLE_AFTER && !isPlaying) this.#isIdle = true;
    if (!this.#isIdle) this.#send();
    this.#header.number += 1;
  }

  #send(): void {
    const header = this.#header;
    if (this.#flushes) header.flags |= FLAG_FLUSH;
    this.#flushes = false;
    const isLastOfBatch = header.number % BATCH_BLOCKS === 0;
    if (this.#isShared) return this.#sent.put(header, this.#block, isLastOfBatch);
    this.#batch.set(this.#block, this.#headers.length * BLOCK_VALUES);
    this.#headers.push({ ...header });
    if (!isLastOfBatch && this.#headers.length < BATCH_BLOCKS) return;
    const values = this.#batch;
    this.#port.postMessage({ type: 'blocks', headers: this.#headers, values }, [values.buffer as ArrayBuffer]);
    this.#batch = new Float32Array(BATCH_BLOCKS * BLOCK_VALUES);
    this.#headers = [];
  }

  #receive(message: ToAudioThread): void {
    if (message.type === 'block') {
      this.#returned.put({ number: message.number, flags: 0, songFrame: 0 }, message.values, true);
    } else if (message.type === 'prepared') {
      // Playback may have begun without it, or wait for another position.
      if (message.songFrame !== this.#preparing) return;
      this.#preparing = null;
      this.#isPrepared = true;
      this.#onPrepared();
    } else if (message.chainFrames !== this.#chainFrames) {
      this.#chainFrames = message.chainFrames;
      this.#lastChainFrames = message.chainFrames ?? this.#lastChainFrames;
      this.#onLatency();
    }
  }
}
