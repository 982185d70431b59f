/**
 * The samples of a recording in progress: finds where they belong in the song, drops those before
 * its start, and passes them on as pieces of a file.
 */
import type { EngineStatus, InputBlock } from '@songfoundry/web-worklet';
import { interleave, recordingHeader } from '../../project/recording-file';

/** Length of the pieces that are stored and sent, in seconds. */
const PIECE_SECS = 0.5;
/** Frames of a pixel of the waveform that is drawn while recording. */
export const PEAK_FRAMES = 1024;

export type TakeOptions = {
  rateHz: number;
  channelCount: number;
  /** Frame of the song where the recording starts; null to start where playback is now. */
  startFrame: number | null;
  /** Frames between the output of a sound and its arrival in a recorded block. */
  latencyFrames: number;
  /** Called once, when the frame of the song of the first sample is known. */
  onStart: (songFrame: number) => void;
  /** Receives the file in pieces, after `onStart`. */
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void;
};

export class AudioTake {
  readonly #options: TakeOptions;
  /** Blocks that arrived before the start was known. */
  #waiting: InputBlock[] = [];
  /** The frame of the audio context that is recorded next; null until the start is known. */
  #nextFrame: number | null = null;
  #songFrame = 0;
  #parts: Float32Array[][] = [];
  #partFrames = 0;
  #peak = 0;
  #peakFrames = 0;
  /** Number of frames recorded so far. */
  frames = 0;
  /** Linear peaks of every {@link PEAK_FRAMES} frames. */
  readonly peaks: number[] = [];

  constructor(options: TakeOptions) {
    this.#options = options;
  }

  /** Frame of the song of the first sample; null until it is known. */
  get songFrame(): number | null {
    return this.#nextFrame === null ? null : this.#songFrame;
  }

  /**
   * Takes the position of playback from a report of the engine. The first report after the count-in
   * says which frame of the song belongs to which frame of the audio context.
   */
  receiveStatus({ playing, countInFrames, frame, contextSecs }: EngineStatus): void {
    // The position of an engine with latency stays at 0 until its first frame is audible.
    if (this.#nextFrame !== null || !playing || countInFrames > 0 || frame <= 0) return;
    const { rateHz, latencyFrames, onStart, onBytes, channelCount } = this.#options;
    const startFrame = this.#options.startFrame ?? frame;
    // A sound of song frame s leaves at context frame s - shift, and arrives after the latency.
    const shift = frame - Math.round(contextSecs * rateHz);
    const firstFrame = Math.max(startFrame - shift + latencyFrames, this.#waiting[0]?.frame ?? 0);
    this.#songFrame = firstFrame + shift - latencyFrames;
    this.#nextFrame = firstFrame;
    onStart(this.#songFrame);
    onBytes(recordingHeader(rateHz, channelCount));
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((block) => this.receive(block));
  }

  /** Takes a block of the input. */
  receive(block: InputBlock): void {
    if (this.#nextFrame === null) {
      this.#waiting.push(block);
      return;
    }
    const { channels, frame } = block;
    const length = channels[0]?.length ?? 0;
    // Frames that the audio context skipped are silent, so that later ones keep their position.
    const missing = frame - this.#nextFrame;
    if (missing > 0) this.#add(channels.map(() => new Float32Array(missing)));
    const skipped = Math.max(0, -missing);
    if (skipped < length) this.#add(channels.map((channel) => channel.subarray(skipped)));
  }

  /** Passes the last samples on. */
  finish(): void {
    this.#passOn();
  }

  #add(channels: Float32Array[]): void {
    const frames = channels[0]?.length ?? 0;
    this.#nextFrame = (this.#nextFrame ?? 0) + frames;
    this.frames += frames;
    this.#parts.push(channels);
    this.#partFrames += frames;
    this.#measure(channels, frames);
    if (this.#partFrames >= PIECE_SECS * this.#options.rateHz) this.#passOn();
  }

  #measure(channels: Float32Array[], frames: number): void {
    for (let frame = 0; frame < frames; frame++) {
      for (const channel of channels) this.#peak = Math.max(this.#peak, Math.abs(channel[frame] ?? 0));
      this.#peakFrames += 1;
      if (this.#peakFrames < PEAK_FRAMES) continue;
      this.peaks.push(this.#peak);
      this.#peak = 0;
      this.#peakFrames = 0;
    }
  }

  #passOn(): void {
    if (this.#partFrames === 0) return;
    const channels = Array.from({ length: this.#options.channelCount }, (_, number) => {
      const joined = new Float32Array(this.#partFrames);
      let offset = 0;
      for (const part of this.#parts) {
        joined.set(part[number] ?? [], offset);
        offset += part[number]?.length ?? 0;
      }
      return joined;
    });
    this.#parts = [];
    this.#partFrames = 0;
    this.#options.onBytes(interleave(channels));
  }
}
