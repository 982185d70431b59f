/** A service of the tests' own: the real program on a storage folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test as base } from '@playwright/test';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const START_SECS = 30;

export type Service = { url: string; port: number };

async function addressOf(child: ChildProcess): Promise<URL> {
  if (!child.stdout) throw new Error('the service has no output');
  const patience = setTimeout(() => child.kill('SIGKILL'), START_SECS * 1000);
  try {
    for await (const line of createInterface(child.stdout)) {
      const address = /http:\/\/[\w.]+:\d+/.exec(line)?.[0];
      if (address) return new URL(address);
    }
  } finally {
    clearTimeout(patience);
  }
  throw new Error(`the service ended before it said its address, within ${START_SECS} s`);
}

/** A test with a service that lives as long as the tests of one file and worker. */
export const test = base.extend<object, { service: Service; settings: Record<string, string> }>({
  settings: [{}, { scope: 'worker', option: true }],
  service: [
    async ({ settings }, use) => {
      const storage = mkdtempSync(join(tmpdir(), 'songfoundry-browser-'));
      const child = spawn(join(TARGET, 'debug/songfoundry'), ['serve'], {
        env: {
          PATH: process.env.PATH,
          SF_PORT: '0',
          SF_STORAGE_DIR: storage,
          SF_WEB_DIR: join(ROOT, 'web-client/dist'),
          SF_DEFAULT_SOUNDFONT: 'timgm6mb',
          ...settings,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const address = await addressOf(child);
      child.stdout?.resume();
      await use({ url: address.origin, port: Number(address.port) });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(storage, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

export { expect } from '@playwright/test';
