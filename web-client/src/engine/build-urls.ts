/**
 * Addresses of the engine's files. Each address contains the build of the page. Otherwise the
 * browser's cache could return a file of another build.
 */

const build = document.querySelector<HTMLMetaElement>('meta[name="songfoundry-build"]')?.content ?? '';
const version = build === '' ? '' : `?v=${encodeURIComponent(build)}`;

export const PROCESSOR_URL = `/assets/processor.js${version}`;
export const WASM_URL = `/assets/dsp_wasm_bg.wasm${version}`;
export const LIVE_WORKER_URL = `/assets/live-worker.js${version}`;
