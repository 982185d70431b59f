/**
 * The browser plays the same samples that the service renders. The engine of the audio thread
 * renders every song and project of the native parity test. It uses the reduced bank and calls of
 * 128, 512 and 4096 frames. It also renders the start in calls of one frame, and the end of songs
 * after a seek. Songs with a whole SF2 bank are also rendered with that bank. Projects are compiled
 * by the page's code, and long audio is streamed.
 */
import { expect, test } from '@playwright/test';
import {
  projectManifest,
  renderInPage,
  songManifest,
  startParityServer,
  type RenderAnswer,
  type RenderRequest,
} from '../support/parity';

const CALL_FRAMES = [128, 512, 4096];

test('every song has the hash of the native renders', async ({ page }) => {
  const { sampleRateHz, songFrames, startFrames, soughtFrame, cases } = songManifest();
  expect(cases).toHaveLength(20);
  const banks = [...new Set(cases.flatMap(({ wholeBank }) => wholeBank ?? []))];
  const server = await startParityServer(banks);
  try {
    for (const { name, session, reducedBank, wholeBank, songHash, startHash, soughtHash } of cases) {
      const render = async (bank: string, frames: number, calls: number[], startFrame = 0): Promise<string[]> => {
        // A new page gives each engine new memory.
        await page.goto(server.url);
        const request: RenderRequest = {
          session: { file: `/case/songs/${session}` },
          bank,
          sounds: [],
          sampleRateHz,
          ranges: calls.map((callFrames) => ({ startFrame, frames, callFrames })),
        };
        return (await page.evaluate(renderInPage, request)).hashes;
      };
      const reducedHashes = await render(`/case/songs/${reducedBank}`, songFrames, CALL_FRAMES);
      expect(reducedHashes, `${name}: reduced bank, ${CALL_FRAMES.join(', ')} frames a call`).toEqual(CALL_FRAMES.map(() => songHash));
      expect(await render(`/case/songs/${reducedBank}`, startFrames, [1]), `${name}: one frame a call`).toEqual([startHash]);
      const afterSeek = await render(`/case/songs/${reducedBank}`, songFrames - soughtFrame, [128], soughtFrame);
      expect(afterSeek, `${name}: from frame ${soughtFrame}`).toEqual([soughtHash]);
      if (wholeBank !== null) {
        const withWholeBank = await render(`/bank/${banks.indexOf(wholeBank)}`, songFrames, [128]);
        expect(withWholeBank, `${name}: whole bank`).toEqual([songHash]);
      }
    }
  } finally {
    await server.close();
  }
});

test('every project has the session and the hash of the native renders', async ({ page }) => {
  const { sounds, cases } = projectManifest();
  expect(cases.length).toBeGreaterThan(5);
  const server = await startParityServer([]);
  try {
    for (const { name, project, sampleRateHz, frames, startFrames, latencyFrames, bank, ...expected } of cases) {
      await page.goto(server.url);
      const request: RenderRequest = {
        session: { project },
        bank: bank === null ? null : `/case/projects/${bank}`,
        sounds: sounds[sampleRateHz] ?? [],
        sampleRateHz,
        ranges: [
          { startFrame: 0, frames: startFrames, callFrames: 1 },
          ...CALL_FRAMES.map((callFrames) => ({ startFrame: 0, frames, callFrames })),
        ],
      };
      const expectedAnswer: RenderAnswer = {
        latencyFrames,
        sessionHash: expected.sessionHash,
        leftOut: [],
        hashes: [expected.startHash, ...CALL_FRAMES.map(() => expected.hash)],
        underruns: 0,
      };
      expect(await page.evaluate(renderInPage, request), `${name}: one frame a call, then ${CALL_FRAMES.join(', ')}`).toEqual(expectedAnswer);
    }
  } finally {
    await server.close();
  }
});
