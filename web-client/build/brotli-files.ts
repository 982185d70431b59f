/**
 * Writes a Brotli copy (`.br`) of each text file and WebAssembly module of the page. The service
 * sends the copy to browsers that accept Brotli.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'vite';

/** Minimum size of a compressed file, in bytes. Smaller files fit into one network packet. */
const SIZE_MIN_BYTES = 1024;

const compress = promisify(brotliCompress);

export function brotliFiles(): Plugin {
  return {
    name: 'songfoundry:brotli-files',
    apply: 'build',
    enforce: 'post',
    async writeBundle(options, bundle) {
      const folder = options.dir;
      if (!folder) throw new Error('the build has no output folder; set build.outDir');
      const names = Object.keys(bundle).filter((name) => /\.(js|css|html|svg|wasm)$/.test(name));
      for (const name of names) {
        const path = join(folder, name);
        const content = await readFile(path);
        if (content.length < SIZE_MIN_BYTES) continue;
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        };
        await writeFile(`${path}.br`, await compress(content, { params }));
      }
    },
  };
}
