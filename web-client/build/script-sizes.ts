/**
 * Prints the compressed sizes of the scripts and of the engine. Fails the build if the first script
 * of the page or the engine exceeds its limit.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const KILOBYTE = 1000;
/** Limits on the Brotli copies, in bytes. */
const START_MAX_BYTES = 160 * KILOBYTE;
const ENGINE_MAX_BYTES = 440 * KILOBYTE;
const ENGINE = 'assets/dsp_wasm_bg.wasm';

/** A script of the build, and the scripts that it imports before it runs. */
export type Script = { fileName: string; isEntry: boolean; imports: readonly string[] };

/** Returns the names of the scripts that the browser loads before the page starts. */
export function startScripts(scripts: readonly Script[]): string[] {
  const names = new Set<string>();
  const add = ({ fileName, imports }: Script): void => {
    if (names.has(fileName)) return;
    names.add(fileName);
    for (const script of scripts) if (imports.includes(script.fileName)) add(script);
  };
  for (const script of scripts) if (script.isEntry) add(script);
  return [...names];
}

export function scriptSizes(): Plugin {
  return {
    name: 'songfoundry:script-sizes',
    apply: 'build',
    enforce: 'post',
    writeBundle: {
      // The copies exist after `brotliFiles`.
      sequential: true,
      order: 'post',
      async handler(options, bundle) {
        const folder = options.dir ?? '';
        const compressedBytes = async (name: string): Promise<number> => (await stat(join(folder, `${name}.br`)).catch(() => stat(join(folder, name)))).size;
        const scripts = Object.values(bundle).filter((file) => file.type === 'chunk');
        const atStart = new Set(startScripts(scripts));
        let [startBytes, laterBytes] = [0, 0];
        for (const { fileName } of scripts) {
          const bytes = await compressedBytes(fileName);
          if (atStart.has(fileName)) startBytes += bytes;
          else laterBytes += bytes;
        }
        const engineBytes = await compressedBytes(ENGINE);
        const kilobytes = (bytes: number): string => `${(bytes / KILOBYTE).toFixed(1)} KB`;
        this.info(
          `compressed sizes: ${kilobytes(startBytes)} of scripts at the start (limit ${kilobytes(START_MAX_BYTES)}), ` +
            `${kilobytes(laterBytes)} later, ${kilobytes(engineBytes)} of the engine (limit ${kilobytes(ENGINE_MAX_BYTES)})`,
        );
        if (startBytes > START_MAX_BYTES) this.error('the scripts at the start exceed their limit: load parts of them later, with LazyPart');
        if (engineBytes > ENGINE_MAX_BYTES) this.error('the engine exceeds its limit');
      },
    },
  };
}
