import { defineConfig } from '@playwright/test';

/** Specs that capture or measure what the page plays. */
const SOUND_SPECS = /(banks|edit-while-playing|keys|latency|live-plugins|live-tracks|meters|mix-sound|plugins|recording|sf3|sound-client|sound-server|takes|transport|whole-job)\.spec\.ts$/;

export default defineConfig({
  testDir: 'specs',
  outputDir: 'output/results',
  fullyParallel: true,
  workers: 2,
  // Real-time audio needs a whole core. Tests of `sound` therefore run one at a time, beside tests
  // of `page`.
  projects: [
    { name: 'sound', testMatch: SOUND_SPECS, workers: 1 },
    { name: 'page', testIgnore: SOUND_SPECS },
  ],
  retries: 0,
  // The tests also run on busy machines, where a debug build may need seconds for a request.
  timeout: 900_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  forbidOnly: true,
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--autoplay-policy=no-user-gesture-required',
        // A host name that is not local, because browsers restrict only insecure pages of other
        // hosts.
        '--host-resolver-rules=MAP studio.example 127.0.0.1',
      ],
    },
  },
});
