/** A browser whose microphone plays a file. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from '@playwright/test';

export const RATE_HZ = 48_000;
/** Length of the fake microphone's file in seconds; longer than any of the recordings. */
const MICROPHONE_SECS = 120;
const SINE_HZ = 100;
export const SINE_LEVEL = 0.25;

/**
 * Writes a sine as a 16-bit WAV file for the fake microphone. A second channel has twice the
 * frequency.
 */
function microphoneFile(folder: string, channels: 1 | 2): string {
  const frames = MICROPHONE_SECS * RATE_HZ;
  const frameBytes = 2 * channels;
  const bytes = Buffer.alloc(44 + frameBytes * frames);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(36 + frameBytes * frames, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(RATE_HZ, 24);
  bytes.writeUInt32LE(frameBytes * RATE_HZ, 28);
  bytes.writeUInt16LE(frameBytes, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(frameBytes * frames, 40);
  for (let index = 0; index < frames * channels; index++) {
    const hz = SINE_HZ * (1 + (index % channels));
    const value = SINE_LEVEL * Math.sin((2 * Math.PI * hz * Math.floor(index / channels)) / RATE_HZ);
    bytes.writeInt16LE(Math.round(32_767 * value), 44 + 2 * index);
  }
  const path = join(folder, 'microphone.wav');
  writeFileSync(path, bytes);
  return path;
}

/** A block that the page received from the audio input, and the number of its first frame. */
export type Block = { frame: number; channels: number[][] };

/** A browser whose microphone plays the file, and the blocks that its pages receive from it. */
export type Studio = { browser: BrowserContext; blocks: Block[] };

/** Passes the blocks of the page's audio inputs on to the test. */
function watchInputs(): void {
  const Node = globalThis.AudioWorkletNode;
  const { receiveBlock } = globalThis as unknown as { receiveBlock: (block: Block) => void };
  globalThis.AudioWorkletNode = class extends Node {
    constructor(context: BaseAudioContext, name: string, options?: AudioWorkletNodeOptions) {
      super(context, name, options);
      if (name !== 'songfoundry-input') return;
      this.port.addEventListener('message', ({ data }: MessageEvent<{ frame: number; channels: Float32Array[] } | null>) => {
        if (data) receiveBlock({ frame: data.frame, channels: data.channels.map((channel) => [...channel]) });
      });
    }
  };
}

/** Opens a browser with a profile whose microphone plays the file. */
export async function openStudio(channels: 1 | 2 = 1): Promise<Studio> {
  const blocks: Block[] = [];
  const browser = await openBrowser(channels);
  await browser.exposeFunction('receiveBlock', (block: Block) => void blocks.push(block));
  await browser.addInitScript(watchInputs);
  return { browser, blocks };
}

async function openBrowser(channels: 1 | 2): Promise<BrowserContext> {
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-microphone-'));
  return chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
    viewport: { width: 1440, height: 900 },
    permissions: ['microphone'],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphoneFile(folder, channels)}`,
    ],
  });
}
