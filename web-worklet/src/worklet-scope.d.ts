/** Declares the members of AudioWorkletGlobalScope that TypeScript's DOM library lacks. */

declare const sampleRate: number;

/** The time of the first frame of the render quantum in the audio context, in seconds. */
declare const currentTime: number;

/** The number of the first frame of the render quantum in the audio context. */
declare const currentFrame: number;

declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
}

declare function registerProcessor(
  name: string,
  processor: new (options: { processorOptions: never }) => AudioWorkletProcessor & {
    process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
  },
): void;
