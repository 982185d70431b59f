/**
 * Adds the files of the sound engine to the build of the page: the scripts of the audio thread and
 * of the worker of a live chain, and the WebAssembly module.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';

const worklet = new URL('../../web-worklet/', import.meta.url);
const processor = fileURLToPath(new URL('src/processor.ts', worklet));
const liveWorker = fileURLToPath(new URL('src/live/worker.ts', worklet));
const wasm = new URL('pkg/dsp_wasm_bg.wasm', worklet);

/** Returns a plugin that applies `change` to the code of the generated bindings. */
function changedBindings(name: string, change: (code: string) => string): Plugin {
  return {
    name: `songfoundry:${name}`,
    transform(code, id) {
      return /\/pkg\/dsp_wasm\.js$/.test(id) ? { code: change(code), map: null } : null;
    },
  };
}

/**
 * Removes the default path of the WebAssembly module from the bindings. The page always provides
 * the module; the path would add a second copy of the module to the bundle.
 */
function withoutDefaultModule(): Plugin {
  return changedBindings('without-default-module', (code) =>
    code.replace(/new URL\(\s*['"]dsp_wasm_bg\.wasm['"]\s*,\s*import\.meta\.url\s*\)/g, 'undefined'),
  );
}

/**
 * Removes the warm-up of the text decoder from the bindings. The substitute decoder of the audio
 * thread needs no warm-up, and fails if it is called without an input.
 */
function withoutDecoderWarmUp(): Plugin {
  return changedBindings('without-decoder-warm-up', (code) => code.replace(/^\s*cachedTextDecoder\.decode\(\);$/gm, ''));
}

/** Bundles a script that runs outside the page's thread into one file. */
async function bundle(entry: string): Promise<string> {
  const result = (await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [withoutDefaultModule(), withoutDecoderWarmUp()],
    // The package of the substitute decoder uses `window` or `global`; the audio thread has
    // neither.
    define: { global: 'globalThis' },
    build: {
      write: false,
      target: 'es2022',
      lib: { entry, formats: ['es'], fileName: 'script' },
      rollupOptions: { output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput | Rolldown.RolldownOutput[];
  const outputs = Array.isArray(result) ? result.flatMap((one) => one.output) : result.output;
  const [chunk, ...otherChunks] = outputs;
  if (chunk?.type !== 'chunk' || otherChunks.length > 0) {
    throw new Error(`${entry} became ${outputs.length} files; it must be one`);
  }
  return chunk.code;
}

export function engineFiles(): Plugin[] {
  return [
    withoutDefaultModule(),
    {
      name: 'songfoundry:engine-files',
      apply: 'build',
      async generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'assets/processor.js', source: await bundle(processor) });
        this.emitFile({ type: 'asset', fileName: 'assets/live-worker.js', source: await bundle(liveWorker) });
        this.emitFile({ type: 'asset', fileName: 'assets/dsp_wasm_bg.wasm', source: await readFile(wasm) });
      },
    },
  ];
}
