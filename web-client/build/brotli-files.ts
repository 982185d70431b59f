/**
 * Puts a Brotli copy (`.br`) beside each text file and module of the page: the service sends it to
 * browsers that take it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'vite';

/** Files below this size, in bytes, fit into one packet anyway. */
const SIZE_MIN_BYTES = 1024;

const compress = promisify(brotliCompress);

export function brotliFiles(): Plugin {
  return {
    name: 'songfoundry:brotli-files',
    apply: 'build',
    enforce: 'post',
    async writeBundle(options, bundle) {
      const folder = options.dir;
      if (!folder) throw new Error('the build has no folder');
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
