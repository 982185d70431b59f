// Times sessions with effects in a page of headless Chromium: node effects-chromium.mjs PACKAGE
// FOLDER NAME...
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from '@playwright/test';

const TYPES = { js: 'text/javascript', mjs: 'text/javascript', wasm: 'application/wasm', html: 'text/html' };

/**
 * Runs in the page: prepares a session for `window.playOnce`, and returns its length in seconds.
 */
async function prepareInPage(name) {
  const bytes = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
  const readFileBytes = (file) => bytes(`/files/${file}`);
  const bindings = await import('/package/dsp_wasm.js');
  const { loadFiles, prepareSession } = await import('/scripts/effects-speed.mjs');
  const module = await WebAssembly.compile(await bytes('/package/dsp_wasm_bg.wasm'));
  const { playOnce, soundSecs } = prepareSession(bindings, module, await loadFiles(readFileBytes), name, await readFileBytes(`${name}.session`));
  window.playOnce = playOnce;
  return soundSecs;
}

const [folder, files, ...names] = process.argv.slice(2);
const folders = { package: folder, files, scripts: import.meta.dirname };
const server = createServer((request, response) => {
  const [, base, name] = /^\/(\w+)\/([\w.-]+)$/.exec(request.url) ?? [];
  response.setHeader('content-type', TYPES[(name ?? '.html').split('.').pop()] ?? 'application/octet-stream');
  if (!folders[base]) return response.end('<!doctype html>');
  createReadStream(join(folders[base], name)).on('error', () => response.writeHead(404).end()).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({
  executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  const tab = await browser.newPage();
  const devtools = await tab.context().newCDPSession(tab);
  await devtools.send('Performance.enable');
  /** Processor time of the page's thread so far, in seconds. */
  const threadSecs = async () => (await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ThreadTime').value;
  const loads = {};
  for (const name of names) {
    await tab.goto(`http://127.0.0.1:${server.address().port}/`);
    const soundSecs = await tab.evaluate(prepareInPage, name);
    const startSecs = await threadSecs();
    await tab.evaluate(() => window.playOnce());
    loads[name] = ((await threadSecs()) - startSecs) / soundSecs;
  }
  console.log(JSON.stringify(loads));
} finally {
  await browser.close();
  server.close();
}
