// Measures the page with a large song in headless Chromium, and prints the figures as JSON:
// node page-speed.mjs ADDRESS, where ADDRESS is that of a running service without log-in, or
// node page-speed.mjs SONGFOUNDRY PAGE BANK.
// Times are CPU times of the page's thread, which other programs of the machine disturb least.
import { launchChromium, openSong, withService } from './browser-and-service.mjs';
import { largeSong } from './large-song.mjs';

const NOTES = 8;
const IDLE_SECS = 5;
const PLAY_SECS = 6;
/** Time for the page to become idle after it has opened the song, in milliseconds. */
const SETTLE_MS = 8000;
/** Time after a note, in which the page compiles the song and draws, in milliseconds. */
const NOTE_MS = 1000;

const browser = await launchChromium();

/** Traces the page during `action`. Returns the CPU times of its thread in milliseconds. */
async function traced(page, action) {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline'] });
  const result = await action();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mainThreads = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const events = traceEvents.filter(({ ph, pid, tid }) => ph === 'X' && mainThreads.has(`${pid} ${tid}`)).sort((a, b) => a.ts - b.ts);
  /** Sums the CPU times of events with these names that are not within another one of them. */
  const sumOf = (...names) => {
    let endTs = 0;
    let sumMs = 0;
    for (const { name, ts, dur = 0, tdur = 0 } of events) {
      if (!names.includes(name) || ts < endTs) continue;
      endTs = ts + dur;
      sumMs += tdur / 1000;
    }
    return sumMs;
  };
  return { result, allMs: sumOf('RunTask'), scriptMs: sumOf('FunctionCall', 'RunMicrotasks', 'EventDispatch', 'FireAnimationFrame', 'TimerFire') };
}

/** Runs in the page: returns the lengths of the animation frames of some seconds, sorted. */
const framesInPage = (secs) =>
  new Promise((done) => {
    const lengthsMs = [];
    const startMs = performance.now();
    let lastMs = startMs;
    const frame = () => {
      const nowMs = performance.now();
      lengthsMs.push(nowMs - lastMs);
      lastMs = nowMs;
      if (nowMs - startMs < secs * 1000) requestAnimationFrame(frame);
      else done(lengthsMs.sort((a, b) => a - b));
    };
    requestAnimationFrame(frame);
  });

async function measure(address) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  // The browser renders the instruments: renders by the service would disturb the measurement.
  await page.addInitScript(() => localStorage.setItem('songfoundry.preferences', JSON.stringify({ sound: 'client', follow: true, snapTicks: 240 })));
  await openSong(page, address, largeSong());
  await page.waitForTimeout(SETTLE_MS);

  const idle = await traced(page, () => page.waitForTimeout(IDLE_SECS * 1000));

  await page.getByLabel('Clips of the tracks').click({ position: { x: 200, y: 30 } });
  await page.getByRole('button', { name: 'Draw tool' }).click();
  const roll = await page.getByLabel(/^Notes of /).boundingBox();
  await page.waitForTimeout(SETTLE_MS);
  const drawing = await traced(page, async () => {
    for (let note = 0; note < NOTES; note++) {
      await page.mouse.click(roll.x + 20 + note * 40, roll.y + 22 + note * 11);
      await page.waitForTimeout(NOTE_MS);
    }
  });
  const rest = await traced(page, () => page.waitForTimeout(NOTES * NOTE_MS));

  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Play', pressed: true }).waitFor();
  await page.waitForTimeout(3000);
  const playing = await traced(page, () => page.evaluate(framesInPage, PLAY_SECS));
  const frames = playing.result;

  const round = (value) => Math.round(value * 10) / 10;
  console.log(
    JSON.stringify({
      idle_percent: round(idle.allMs / IDLE_SECS / 10),
      note_ms: round((drawing.allMs - rest.allMs) / NOTES),
      note_script_ms: round((drawing.scriptMs - rest.scriptMs) / NOTES),
      playing_percent: round(playing.allMs / PLAY_SECS / 10),
      playing_fps: round(frames.length / PLAY_SECS),
      playing_frame_p50_ms: round(frames[Math.floor(frames.length * 0.5)]),
      playing_frame_p95_ms: round(frames[Math.floor(frames.length * 0.95)]),
    }),
  );
}

const [first, ...otherArguments] = process.argv.slice(2);
try {
  await (otherArguments.length === 0 ? measure(first) : withService(first, ...otherArguments, measure));
} finally {
  await browser.close();
}
