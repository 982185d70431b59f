/** Registers the AudioWorklet processor that runs {@link EngineHost}. */
// The engine's bindings need a TextDecoder, and the audio thread has none.
import 'fast-text-encoding';
import './input-processor';
import { EngineHost } from './engine-host';
import { PROCESSOR_NAME, type EngineCommand, type ProcessorOptions } from './protocol';

class EngineProcessor extends AudioWorkletProcessor {
  readonly #host: EngineHost;

  constructor(options: { processorOptions: ProcessorOptions }) {
    super();
    this.#host = new EngineHost(options.processorOptions.module, sampleRate, (report) => this.port.postMessage(report));
    this.port.onmessage = (event: MessageEvent<EngineCommand>) => this.#host.receive(event.data);
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const [left, right] = outputs[0] ?? [];
    if (left && right) this.#host.render(left, right, currentTime);
    return true;
  }
}

registerProcessor(PROCESSOR_NAME, EngineProcessor);
