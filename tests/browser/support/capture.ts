/** Recording what the engine's worklet puts out, sample by sample. */
import type { Page } from '@playwright/test';

export type Recording = { left: Float32Array; right: Float32Array };

/** A worklet that passes on what it hears, in pieces of 8192 frames. */
const RECORDER = `
class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.filled = 0;
    this.left = new Float32Array(8192);
    this.right = new Float32Array(8192);
  }
  process([input]) {
    const [left, right] = input;
    if (!left || !right) return true;
    this.left.set(left, this.filled);
    this.right.set(right, this.filled);
    this.filled += left.length;
    if (this.filled === 8192) {
      this.port.postMessage([this.left, this.right]);
      this.filled = 0;
    }
    return true;
  }
}
registerProcessor('test-recorder', Recorder);
`;

/** The part of the page's debugging handle that tests use. */
type Handle = {
  engine: { context: AudioContext; output: AudioNode } | null;
  recording?: [Float32Array, Float32Array][];
};

declare global {
  interface Window {
    songfoundry: Handle;
  }
}

/** Starts to record; the engine must have been started. */
export async function startRecording(page: Page): Promise<void> {
  await page.evaluate(async (source) => {
    const { engine } = window.songfoundry;
    if (!engine) throw new Error('the engine is not there');
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    await engine.context.audioWorklet.addModule(url);
    const recorder = new AudioWorkletNode(engine.context, 'test-recorder', { numberOfOutputs: 0, channelCount: 2 });
    const pieces: [Float32Array, Float32Array][] = [];
    recorder.port.onmessage = (event: MessageEvent<[Float32Array, Float32Array]>) => pieces.push(event.data);
    engine.output.connect(recorder);
    window.songfoundry.recording = pieces;
  }, RECORDER);
}

/** What was recorded so far. */
export async function recorded(page: Page): Promise<Recording> {
  const channels = await page.evaluate(async () => {
    const pieces = window.songfoundry.recording ?? [];
    const encode = async (channel: 0 | 1): Promise<string> => {
      const blob = new Blob(pieces.map((piece) => piece[channel] as Float32Array<ArrayBuffer>));
      return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
        reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
        reader.readAsDataURL(blob);
      });
    };
    return Promise.all([encode(0), encode(1)]);
  });
  const floats = (encoded: string): Float32Array => {
    const bytes = Uint8Array.from(Buffer.from(encoded, 'base64'));
    return new Float32Array(bytes.buffer);
  };
  return { left: floats(channels[0]), right: floats(channels[1]) };
}
