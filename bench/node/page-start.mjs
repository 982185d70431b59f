// Measures how soon the page paints, takes input and sounds, with an empty and a filled cache of the
// browser: node page-start.mjs SONGFOUNDRY PAGE BANK
import { launchChromium, withService } from './browser-and-service.mjs';

const TIMEOUT_MS = 60_000;

/**
 * Runs in the page: returns the milliseconds from opening the page to the first paint, to an
 * enabled button Play, and to the first audible sample.
 */
async function start(timeoutMs) {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const button = () => document.querySelector('button[aria-label="Play"]:enabled');
  while (!button() && performance.now() < timeoutMs) await pause(2);
  const interactiveMs = performance.now();
  while (!window.songfoundry?.engine) await pause(2);
  const { context, output } = window.songfoundry.engine;
  const analyser = new AnalyserNode(context, { fftSize: 2048 });
  output.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  button().click();
  while (performance.now() < timeoutMs) {
    await pause(2);
    analyser.getFloatTimeDomainData(samples);
    if (samples.some((value) => Math.abs(value) > 1e-4)) break;
  }
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return { first_paint_secs: paint.startTime / 1000, interactive_secs: interactiveMs / 1000, sound_secs: performance.now() / 1000 };
}

const [program, folder, bank] = process.argv.slice(2);
const figures = await withService(program, folder, bank, async (url) => {
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const measure = async () => {
      const page = await context.newPage();
      await page.goto(url, { waitUntil: 'commit' });
      const result = await page.evaluate(start, TIMEOUT_MS);
      await page.close();
      return result;
    };
    return { cold: await measure(), warm: await measure() };
  } finally {
    await browser.close();
  }
});
console.log(JSON.stringify(figures));
