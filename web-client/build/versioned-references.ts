/**
 * Adds `?v=` and a hash to every reference to an asset, so that cached assets need not expire.
 * Fonts and images have the hash of their content, scripts and styles that of the whole build. The
 * page also contains the build's hash, for the engine's files. Scripts import each other by the
 * same addresses that the page uses; otherwise browsers would run a script twice.
 */
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

const HASH_DIGITS = 16;

export function contentHash(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, HASH_DIGITS);
}

/**
 * Adds `?v=` and the hash of the file to each `url()` of a style sheet. `hashOf` returns the hash
 * of a file, or null for a file whose reference stays unchanged.
 */
export function versionStyle(css: string, hashOf: (name: string) => string | null): string {
  return css.replace(/url\((['"]?)([^'")?#]+)\1\)/g, (reference, quote: string, url: string) => {
    const hash = hashOf(url.split('/').at(-1) ?? '');
    return hash === null ? reference : `url(${quote}${url}?v=${hash}${quote})`;
  });
}

/** Adds the build's hash to the references of the page, and to its head. */
export function versionPage(html: string, build: string): string {
  return html
    .replace(/\b(src|href)="(\/[^"?#]+)"/g, `$1="$2?v=${build}"`)
    .replace('<head>', `<head>\n    <meta name="songfoundry-build" content="${build}" />`);
}

/** Adds the build's hash to the imports of the scripts `names`, which are in the same folder. */
export function versionScript(code: string, names: ReadonlySet<string>, build: string): string {
  return code.replace(/(["'`])\.\/([\w.-]+\.js)\1/g, (reference, quote: string, name: string) =>
    names.has(name) ? `${quote}./${name}?v=${build}${quote}` : reference,
  );
}

export function versionedReferences(): Plugin {
  return {
    name: 'songfoundry:versioned-references',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const hashes = new Map<string, string>();
        for (const file of files) {
          if (file.type === 'asset') hashes.set(file.fileName.split('/').at(-1) ?? '', contentHash([file.source]));
        }
        for (const file of files) {
          if (file.type === 'asset' && file.fileName.endsWith('.css')) {
            file.source = versionStyle(String(file.source), (name) => hashes.get(name) ?? null);
          }
        }
        const parts = files
          .filter((file) => !file.fileName.endsWith('.html'))
          .sort((a, b) => a.fileName.localeCompare(b.fileName))
          .map((file) => (file.type === 'chunk' ? file.code : file.source));
        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('the build made no index.html');
        const build = contentHash(parts);
        page.source = versionPage(String(page.source), build);
        const chunks = files.filter((file) => file.type === 'chunk');
        const names = new Set(chunks.map((chunk) => chunk.fileName.split('/').at(-1) ?? ''));
        for (const chunk of chunks) chunk.code = versionScript(chunk.code, names, build);
      },
    },
  };
}
