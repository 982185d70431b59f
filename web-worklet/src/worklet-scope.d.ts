/** The part of AudioWorkletGlobalScope that TypeScript's DOM library leaves out. */

declare const sampleRate: number;

declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
}

declare function registerProcessor(
  name: string,
  processor: new (options: { processorOptions: import('./protocol').ProcessorOptions }) => AudioWorkletProcessor & {
    process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
  },
): void;
