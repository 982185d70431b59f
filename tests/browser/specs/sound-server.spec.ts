/** With instruments rendered by the service, playback equals the service's render. */
import { DEMO_TRACKS, countTrackRenders, expectDemoAsRendered, openDemo, play, playToBar } from '../support/demo';
import { expect, test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'server' } });

test('the page plays the demo song as the service renders it', async ({ page, service }) => {
  await expectDemoAsRendered(page, service, 'server');
});

test('the page keeps only the sound around the playhead', async ({ page, service }) => {
  const LIMIT_BYTES = 64 * 1024 * 1024;
  let fetchedBytes = 0;
  page.on('response', (response) => {
    if (!response.url().includes('/plugins/sounds/')) return;
    expect(response.status(), 'the sound is fetched in parts').toBe(206);
    fetchedBytes += Number(response.headers()['content-length']);
  });
  const trackRenders = countTrackRenders(page);
  await openDemo(page, service);
  await expect.poll(trackRenders).toBe(DEMO_TRACKS);
  await expect(page.getByText('sound from the service', { exact: true })).toBeVisible();
  await page.evaluate(() => {
    const figures = { mostBytes: 0 };
    Object.assign(window, { figures });
    window.songfoundry?.engine?.onStatus(({ streamedBytes }) => (figures.mostBytes = Math.max(figures.mostBytes, streamedBytes)));
  });
  const mostBytes = (): Promise<number> => page.evaluate(() => (window as unknown as { figures: { mostBytes: number } }).figures.mostBytes);
  // The first blocks arrive while playback is stopped.
  await expect.poll(mostBytes).toBeGreaterThan(0);
  expect(fetchedBytes).toBeLessThan(LIMIT_BYTES);
  await play(page);
  await playToBar(page, 4);
  // A seek fetches the blocks around the new position and frees the others.
  const before = fetchedBytes;
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  await play(page);
  await playToBar(page, 2);
  expect(await mostBytes()).toBeLessThanOrEqual(LIMIT_BYTES);
  expect(fetchedBytes).toBeGreaterThanOrEqual(before);
  console.log(`at most ${((await mostBytes()) / 2 ** 20).toFixed(1)} MiB kept, ${(fetchedBytes / 2 ** 20).toFixed(1)} MiB fetched`);
});
