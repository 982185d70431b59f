// Measures how soon the page plays its first note: node first-note.mjs SONGFOUNDRY PAGE BANK
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from '@playwright/test';

const TIMEOUT_SECS = 60;

/**
 * Runs in the page: presses a piano key until it is audible, and returns the milliseconds since the
 * page was opened.
 */
async function firstNote(timeoutMs) {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  while (!window.songfoundry?.engine) await pause(5);
  const { context, output } = window.songfoundry.engine;
  const analyser = new AnalyserNode(context, { fftSize: 2048 });
  output.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const sendKey = (type) => window.dispatchEvent(new KeyboardEvent(type, { code: 'KeyA', key: 'a', bubbles: true }));
  let pressedMs = -Infinity;
  while (performance.now() < timeoutMs) {
    if (performance.now() - pressedMs > 100) {
      sendKey('keyup');
      sendKey('keydown');
      pressedMs = performance.now();
    }
    await pause(2);
    analyser.getFloatTimeDomainData(samples);
    if (samples.some((value) => Math.abs(value) > 1e-4)) return performance.now();
  }
  return null;
}

const [program, page, bank] = process.argv.slice(2);
const storage = mkdtempSync(join(tmpdir(), 'songfoundry-first-note-'));
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
  const browser = await chromium.launch({
    executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--autoplay-policy=no-user-gesture-required'],
  });
  try {
    const tab = await browser.newPage();
    let bankBytes = 0;
    tab.on('response', (response) => {
      if (response.url().includes('/soundfonts/download/')) bankBytes += Number(response.headers()['content-length'] ?? 0);
    });
    await tab.goto(url, { waitUntil: 'commit' });
    const firstNoteMs = await tab.evaluate(firstNote, TIMEOUT_SECS * 1000);
    if (firstNoteMs === null) throw new Error(`no note was audible within ${TIMEOUT_SECS} s`);
    console.log(JSON.stringify({ first_note_secs: firstNoteMs / 1000, bank_bytes: bankBytes }));
  } finally {
    await browser.close();
  }
} finally {
  const ended = new Promise((done) => service.once('exit', done));
  service.kill('SIGTERM');
  await ended;
  rmSync(storage, { recursive: true });
}
