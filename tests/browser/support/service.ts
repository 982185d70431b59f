/** Starts a service for tests: the real program with a new storage folder. */
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

/** A service that the caller stops. */
export type RunningService = Service & {
  /** Process id of the service. */
  pid: number;
  /** Lines that the service printed before its address. */
  greeting: string[];
  stop: () => Promise<void>;
  /** Ends the service at once, like a crash. Its storage stays if `SF_STORAGE_DIR` is set. */
  kill: () => Promise<void>;
};

async function addressOf(child: ChildProcess): Promise<{ address: URL; greeting: string[] }> {
  if (!child.stdout) throw new Error('the service has no output');
  const startTimeout = setTimeout(() => child.kill('SIGKILL'), START_SECS * 1000);
  const greeting: string[] = [];
  try {
    for await (const line of createInterface(child.stdout)) {
      const address = /https?:\/\/[\w.]+:\d+/.exec(line)?.[0];
      if (address) return { address: new URL(address), greeting };
      greeting.push(line);
    }
  } finally {
    clearTimeout(startTimeout);
  }
  throw new Error(`the service ended, or did not print its address within ${START_SECS} s`);
}

/**
 * Starts a service with a new storage folder. `wrapperCommand` is a command that runs the program,
 * such as a command that enters a namespace.
 */
export async function startService(settings: Record<string, string>, wrapperCommand: string[] = []): Promise<RunningService> {
  const storage = mkdtempSync(join(tmpdir(), 'songfoundry-browser-'));
  const [program = '', ...args] = [...wrapperCommand, join(TARGET, 'debug/songfoundry'), 'serve'];
  const child = spawn(program, args, {
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
  const { address, greeting } = await addressOf(child);
  child.stdout?.resume();
  const exitPromise = new Promise((resolve) => child.once('exit', resolve));
  const end = (signal: 'SIGTERM' | 'SIGKILL') => async (): Promise<void> => {
    child.kill(signal);
    await exitPromise;
    rmSync(storage, { recursive: true, force: true });
  };
  return { url: address.origin, port: Number(address.port), pid: child.pid ?? 0, greeting, stop: end('SIGTERM'), kill: end('SIGKILL') };
}

/**
 * A test with a service, which all tests of a worker with the same settings share. Each test starts
 * without the autosaves of an earlier one, which the page would open instead of the demo song.
 */
export const test = base.extend<{ withoutAutosaves: void }, { service: Service; settings: Record<string, string> }>({
  withoutAutosaves: [
    async ({ service, request }, use) => {
      const autosaves = await request.get(`${service.url}/api/v1/projects/temp/songs`);
      // A service that needs a log-in has no autosaves that the page could open without one.
      const { items = [] } = (await autosaves.json()) as { items?: { project_id: string }[] };
      for (const { project_id: id } of items) await request.delete(`${service.url}/api/v1/projects/temp?project_id=${id}`);
      await use();
    },
    { auto: true },
  ],
  settings: [{}, { scope: 'worker', option: true }],
  service: [
    async ({ settings }, use) => {
      const { url, port, stop } = await startService(settings);
      await use({ url, port });
      await stop();
    },
    { scope: 'worker' },
  ],
});

export { expect } from '@playwright/test';
