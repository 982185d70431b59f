import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

import { brotliFiles } from './build/brotli-files.ts';
import { engineFiles } from './build/engine-files.ts';
import { scriptSizes } from './build/script-sizes.ts';
import { versionedReferences } from './build/versioned-references.ts';

export default defineConfig({
  plugins: [svelte({ configFile: false }), engineFiles(), versionedReferences(), brotliFiles(), scriptSizes()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    // The page names the scripts that its first script imports, so that browsers load them at once.
    modulePreload: { polyfill: false, resolveDependencies: (_file, dependencies, { hostType }) => (hostType === 'html' ? dependencies : []) },
    // Scripts that are loaded later find all styles there, so they cannot appear without styles.
    cssCodeSplit: false,
    // `scriptSizes` has the limit.
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      output: {
        // The hash makes a page of an earlier build fail to load a later build's part, instead of
        // mixing two builds.
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
