/** Registers the AudioWorklet processor that posts the samples of an audio input to the page. */
import { BlockCollector, type InputBlock } from './block-collector';
import { INPUT_PROCESSOR_NAME, type InputCommand, type InputProcessorOptions } from './input-protocol';

class InputProcessor extends AudioWorkletProcessor {
  readonly #collector: BlockCollector;
  #hasEnded = false;

  constructor({ processorOptions }: { processorOptions: InputProcessorOptions }) {
    super();
    const post = (block: InputBlock): void => this.port.postMessage(block, block.channels.map((channel) => channel.buffer));
    this.#collector = new BlockCollector(processorOptions.channelCount, post);
    this.port.onmessage = ({ data }: MessageEvent<InputCommand>) => {
      if (data === 'end') {
        this.#hasEnded = true;
        return;
      }
      this.#collector.flush();
      this.port.postMessage(null);
    };
  }

  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    if (this.#hasEnded) return false;
    this.#collector.add(inputs[0] ?? [], outputs[0]?.[0]?.length ?? 128, currentFrame);
    return true;
  }
}

registerProcessor(INPUT_PROCESSOR_NAME, InputProcessor);
