/** An audio input of the page (a microphone or a line) whose samples are posted in blocks. */
import type { InputBlock } from './block-collector';
import { INPUT_PROCESSOR_NAME, type InputCommand, type InputProcessorOptions, type InputReport } from './input-protocol';

/** Longest time to wait for the samples of a flush, in milliseconds. */
const FLUSH_MAX_MS = 1000;
/** Time constant with which the level of the audible input changes, in seconds. */
const MONITOR_RAMP_SECS = 0.005;

export class AudioInput {
  readonly #node: AudioWorkletNode;
  readonly #source: MediaStreamAudioSourceNode;
  readonly #monitor: GainNode;
  readonly #panner: StereoPannerNode;
  readonly #stream: MediaStream;
  #onFlushed: (() => void) | null = null;

  /**
   * Connects a stream to the audio context of an engine, whose script registers the processor.
   * `onBlock` receives the samples; nothing is audible before {@link AudioInput.monitor}.
   */
  constructor(context: AudioContext, stream: MediaStream, channelCount: 1 | 2, onBlock: (block: InputBlock) => void) {
    this.#stream = stream;
    this.#source = context.createMediaStreamSource(stream);
    const processorOptions: InputProcessorOptions = { channelCount };
    this.#node = new AudioWorkletNode(context, INPUT_PROCESSOR_NAME, {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      outputChannelCount: [1],
      channelCount,
      channelCountMode: 'explicit',
      channelInterpretation: 'discrete',
      processorOptions,
    });
    this.#node.port.onmessage = ({ data }: MessageEvent<InputReport>) => {
      if (data) onBlock(data);
      else this.#onFlushed?.();
    };
    // As in the engine, a mono input plays on both sides at its full level.
    this.#monitor = new GainNode(context, { gain: 0, channelCount: 2, channelCountMode: 'explicit' });
    this.#panner = context.createStereoPanner();
    this.#source.connect(this.#node);
    this.#source.connect(this.#monitor);
    // The output of the processor is silent. It is connected so that every browser runs it.
    this.#node.connect(context.destination);
    this.#monitor.connect(this.#panner);
    this.#panner.connect(context.destination);
  }

  /** Makes the input audible with a linear gain and a pan, -1 to 1; silent with the gain 0. */
  monitor(gain: number, pan: number): void {
    const { currentTime } = this.#monitor.context;
    this.#monitor.gain.setTargetAtTime(gain, currentTime, MONITOR_RAMP_SECS);
    this.#panner.pan.setTargetAtTime(pan, currentTime, MONITOR_RAMP_SECS);
  }

  /** Name of the device, as far as the browser tells it. */
  get name(): string {
    return this.#stream.getAudioTracks()[0]?.label ?? '';
  }

  /** Latency of the input in seconds, as far as the browser knows it. */
  get latencySecs(): number {
    const settings = this.#stream.getAudioTracks()[0]?.getSettings() as (MediaTrackSettings & { latency?: number }) | undefined;
    return settings?.latency ?? 0;
  }

  /**
   * Resolves when all samples so far have been posted, or after a second, because the processor of
   * a closed context does not answer.
   */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFlushed = resolve;
      setTimeout(resolve, FLUSH_MAX_MS);
      this.#send('flush');
    });
  }

  /** Closes the input. Its processor would otherwise go on posting silence. */
  close(): void {
    this.#node.port.onmessage = null;
    this.#send('end');
    this.#source.disconnect();
    this.#node.disconnect();
    this.#monitor.disconnect();
    this.#panner.disconnect();
    this.#stream.getTracks().forEach((track) => track.stop());
  }

  #send(command: InputCommand): void {
    this.#node.port.postMessage(command);
  }
}
