/** Records the output of the engine, sample by sample. */
import type { Page } from '@playwright/test';

export type Recording = { left: Float32Array; right: Float32Array };

/** A worklet that sends its input to the page in blocks of 8192 frames. */
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

/** The part of `window.songfoundry` that tests use. */
type SongfoundryHandle = {
  engine: {
    context: AudioContext;
    output: AudioNode;
    onStatus: (listener: (status: { live: { lateBlocks: number }[]; streamedBytes: number }) => void) => () => void;
  } | null;
  recording?: [Float32Array, Float32Array][];
};

declare global {
  interface Window {
    songfoundry: SongfoundryHandle;
  }
}

/** Starts a recording. The engine must be ready. */
export async function startRecording(page: Page): Promise<void> {
  await page.evaluate(async (source) => {
    const { engine } = window.songfoundry;
    if (!engine) throw new Error('the engine is not ready');
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    await engine.context.audioWorklet.addModule(url);
    const recorder = new AudioWorkletNode(engine.context, 'test-recorder', { numberOfOutputs: 0, channelCount: 2 });
    const blocks: [Float32Array, Float32Array][] = [];
    recorder.port.onmessage = (event: MessageEvent<[Float32Array, Float32Array]>) => blocks.push(event.data);
    engine.output.connect(recorder);
    window.songfoundry.recording = blocks;
  }, RECORDER);
}

/** Returns the recording so far. */
export async function recorded(page: Page): Promise<Recording> {
  const channels = await page.evaluate(async () => {
    const blocks = window.songfoundry.recording ?? [];
    const encode = async (channel: 0 | 1): Promise<string> => {
      const blob = new Blob(blocks.map((block) => block[channel] as Float32Array<ArrayBuffer>));
      return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
        reader.onerror = () => reject(reader.error ?? new Error('the recording cannot be read'));
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

/** Returns the length of the recording so far, in frames. */
export function recordedFrames(page: Page): Promise<number> {
  return page.evaluate(() => (window.songfoundry.recording ?? []).reduce((frames, [left]) => frames + left.length, 0));
}

/** Waits until the recording is longer by `frames` frames. */
export async function recordMore(page: Page, frames: number): Promise<void> {
  const end = (await recordedFrames(page)) + frames;
  await page.waitForFunction(
    (minFrames) => (window.songfoundry.recording ?? []).reduce((sum, [left]) => sum + left.length, 0) >= minFrames,
    end,
    { timeout: 0 },
  );
}

/** Waits until the left channel of the recording exceeds a level, at or after a frame. */
export async function recordSound(page: Page, level: number, fromFrame = 0): Promise<void> {
  await page.waitForFunction(
    ({ level: minLevel, fromFrame: minFrame }) => {
      let start = 0;
      return (window.songfoundry.recording ?? []).some(([left]) => {
        const begin = Math.max(0, minFrame - start);
        start += left.length;
        return begin < left.length && left.subarray(begin).some((value) => Math.abs(value) > minLevel);
      });
    },
    { level, fromFrame },
    { timeout: 0 },
  );
}
