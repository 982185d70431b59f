/**
 * What the browser plays is what the service renders, to the bit: each song of the native parity test through
 * the audio thread's engine, with the reduced bank and 128, 512 and 4096 frames a call, and its start with one
 * frame a call; songs with a whole SF2 bank also with that, 128 frames a call.
 */
import { expect, test } from '@playwright/test';
import { manifest, renderInPage, startParityServer, type RenderRequest } from '../support/parity';

const CALLS = [128, 512, 4096];

test('every song has the hash of the native renders', async ({ page }) => {
  test.setTimeout(600_000);
  const { sampleRateHz, songFrames, startFrames, cases } = manifest();
  expect(cases).toHaveLength(20);
  const banks = [...new Set(cases.flatMap(({ wholeBank }) => wholeBank ?? []))];
  const server = await startParityServer(banks);
  try {
    for (const { name, session, trackIds, reducedBank, wholeBank, songHash, startHash } of cases) {
      const render = async (bank: string, frames: number, calls: number[]): Promise<string[]> => {
        // A fresh page for each: a fresh memory for each engine.
        await page.goto(server.url);
        const request: RenderRequest = { session: `/case/${session}`, bank, trackIds, sampleRateHz, frames, calls };
        return page.evaluate(renderInPage, request);
      };
      const reduced = await render(`/case/${reducedBank}`, songFrames, CALLS);
      expect(reduced, `${name}: reduced bank, ${CALLS.join(', ')} frames a call`).toEqual(CALLS.map(() => songHash));
      expect(await render(`/case/${reducedBank}`, startFrames, [1]), `${name}: one frame a call`).toEqual([startHash]);
      if (wholeBank !== null) {
        const whole = await render(`/bank/${banks.indexOf(wholeBank)}`, songFrames, [128]);
        expect(whole, `${name}: whole bank`).toEqual([songHash]);
      }
    }
  } finally {
    await server.close();
  }
});
