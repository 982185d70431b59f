// Starts a service with a new storage folder, and headless Chromium.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from '@playwright/test';

/** Starts a service whose default SoundFont is `bank`, calls `use` with its address, and stops it. */
export async function withService(program, page, bank, use) {
  const storage = mkdtempSync(join(tmpdir(), 'songfoundry-bench-'));
  const service = spawn(resolve(program), ['serve'], {
    env: {
      PATH: process.env.PATH,
      SF_PORT: '0',
      SF_STORAGE_DIR: storage,
      SF_WEB_DIR: resolve(page),
      SF_SOUNDFONT_DIRS: dirname(bank),
      SF_DEFAULT_SOUNDFONT: basename(bank, extname(bank)).toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
      SF_INSTRUMENT_SOUND: 'client',
      SF_LOG: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let url;
    for await (const line of createInterface(service.stdout)) {
      url = /http:\/\/[\w.]+:\d+/.exec(line)?.[0];
      if (url) break;
    }
    if (!url) throw new Error('the service ended before it printed its address');
    service.stdout.resume();
    return await use(url);
  } finally {
    const exitPromise = new Promise((done) => service.once('exit', done));
    service.kill('SIGTERM');
    await exitPromise;
    rmSync(storage, { recursive: true });
  }
}

export function launchChromium() {
  return chromium.launch({
    executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--autoplay-policy=no-user-gesture-required'],
  });
}

/** Stores a song, opens the page and the song, and waits until the engine runs. */
export async function openSong(page, url, song) {
  const answer = await page.request.post(`${url}/api/v1/projects`, { data: song });
  if (!answer.ok() && answer.status() !== 409) throw new Error(`the service refused the song with status ${answer.status()}`);
  // Unsaved work of an earlier measurement would be offered in a dialog.
  await page.request.delete(`${url}/api/v1/projects/temp`);
  await page.goto(url);
  await page.getByRole('tab', { name: 'Songs' }).click();
  await page.getByRole('button', { name: `Open ${song.name}` }).click();
  await page.getByRole('listitem', { name: `Track ${song.tracks[0].name}`, exact: true }).waitFor();
  await page.waitForFunction(() => window.songfoundry.engine !== null);
}
