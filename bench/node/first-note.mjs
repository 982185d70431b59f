// Measures how soon the page plays its first note: node first-note.mjs SONGFOUNDRY PAGE BANK
import { launchChromium, withService } from './browser-and-service.mjs';

const TIMEOUT_SECS = 60;

/**
 * Runs in the page: presses a piano key until it is audible, and returns the milliseconds since the
 * page was opened.
 */
async function firstNote(timeoutMs) {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
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
await withService(program, page, bank, async (url) => {
  const browser = await launchChromium();
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
});
