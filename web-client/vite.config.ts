import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

import { brotliFiles } from './build/brotli-files.ts';
import { engineFiles } from './build/engine-files.ts';
import { versionedReferences } from './build/versioned-references.ts';

export default defineConfig({
  plugins: [svelte({ configFile: false }), engineFiles(), versionedReferences(), brotliFiles()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    // The build makes one script, because a session uses nearly all of it. Vite warns of smaller
    // ones.
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
