/**
 * Addresses of the engine's files. Each contains the build of the page, so that the browser's cache
 * does not return a file of another build.
 */

const build = document.querySelector<HTMLMetaElement>('meta[name="songfoundry-build"]')?.content ?? '';
const version = build === '' ? '' : `?v=${encodeURIComponent(build)}`;

export const PROCESSOR_URL = `/assets/processor.js${version}`;
export const WASM_URL = `/assets/dsp_wasm_bg.wasm${version}`;
