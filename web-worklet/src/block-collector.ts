/** Joins the render quanta of an audio input into blocks of equal length. */

/** A block of recorded samples; the first one has the number `frame` in the audio context. */
export type InputBlock = { frame: number; channels: Float32Array<ArrayBuffer>[] };

/** Length of a block in frames: 85 ms at 48 kHz. */
export const INPUT_BLOCK_FRAMES = 4096;

export class BlockCollector {
  readonly #channelCount: number;
  readonly #post: (block: InputBlock) => void;
  #channels: Float32Array<ArrayBuffer>[];
  #filled = 0;
  #firstFrame = 0;

  /** `post` receives each full block; the arrays of a block are not used again. */
  constructor(channelCount: number, post: (block: InputBlock) => void) {
    this.#channelCount = channelCount;
    this.#post = post;
    this.#channels = this.#emptyChannels();
  }

  /**
   * Adds the `frames` frames that begin at `frame` of the audio context. A channel that the input
   * lacks repeats the first one; an input without channels counts as silent.
   */
  add(input: readonly Float32Array[], frames: number, frame: number): void {
    // The audio context skips frames when its output falls behind, for example during a call.
    if (this.#filled > 0 && frame !== this.#firstFrame + this.#filled) this.flush();
    if (this.#filled === 0) this.#firstFrame = frame;
    for (let start = 0; start < frames; ) {
      const count = Math.min(frames - start, INPUT_BLOCK_FRAMES - this.#filled);
      this.#channels.forEach((channel, number) => {
        const source = input[number] ?? input[0];
        if (source) channel.set(source.subarray(start, start + count), this.#filled);
      });
      this.#filled += count;
      start += count;
      if (this.#filled < INPUT_BLOCK_FRAMES) continue;
      this.flush();
      this.#firstFrame = frame + start;
    }
  }

  /** Posts the frames that do not fill a block. */
  flush(): void {
    if (this.#filled === 0) return;
    const filled = this.#filled;
    const channels = this.#channels.map((channel) => (filled === INPUT_BLOCK_FRAMES ? channel : channel.slice(0, filled)));
    this.#channels = this.#emptyChannels();
    this.#filled = 0;
    this.#post({ frame: this.#firstFrame, channels });
  }

  #emptyChannels(): Float32Array<ArrayBuffer>[] {
    return Array.from({ length: this.#channelCount }, () => new Float32Array(INPUT_BLOCK_FRAMES));
  }
}
