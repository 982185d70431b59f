/** Puts the sound engine's two files beside the page: the audio thread's script and the WebAssembly module. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';

const worklet = new URL('../../web-worklet/', import.meta.url);
const processor = fileURLToPath(new URL('src/processor.ts', worklet));
const wasm = new URL('pkg/dsp_wasm_bg.wasm', worklet);

/**
 * The generated glue can look for its module next to itself. Here the module
 * always comes from the page, so that path is cut: it would put a second copy
 * of the module into the bundle.
 */
function withoutOwnModule(): Plugin {
  return {
    name: 'songfoundry:without-own-module',
    transform(code, id) {
      if (!/\/pkg\/dsp_wasm\.js$/.test(id)) return null;
      const cut = code.replace(/new URL\(\s*['"]dsp_wasm_bg\.wasm['"]\s*,\s*import\.meta\.url\s*\)/g, 'undefined');
      return { code: cut, map: null };
    },
  };
}

async function bundleProcessor(): Promise<string> {
  const result = (await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [withoutOwnModule()],
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: processor, formats: ['es'], fileName: 'processor' },
      rollupOptions: { output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput | Rolldown.RolldownOutput[];
  const outputs = Array.isArray(result) ? result.flatMap((one) => one.output) : result.output;
  const [chunk, ...others] = outputs;
  if (chunk?.type !== 'chunk' || others.length > 0) {
    throw new Error(`the audio thread's script became ${outputs.length} files; it must be one`);
  }
  return chunk.code;
}

export function engineFiles(): Plugin[] {
  return [
    withoutOwnModule(),
    {
      name: 'songfoundry:engine-files',
      apply: 'build',
      async generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'assets/processor.js', source: await bundleProcessor() });
        this.emitFile({ type: 'asset', fileName: 'assets/dsp_wasm_bg.wasm', source: await readFile(wasm) });
      },
    },
  ];
}
