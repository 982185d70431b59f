/** A song that needs more memory than a page may use. */
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

test('a song that needs too much memory is refused with a reason', async ({ page, service }) => {
  const address = `${service.url}/api/v1/projects/demo`;
  const storedSong = await page.request.get(address);
  const song = (await storedSong.json()) as { tracks: Record<string, unknown>[] };
  const delays = Array.from({ length: 45 }, (_, number) => ({ id: `d${number}`, type: 'builtin', name: 'delay' }));
  const buses = Array.from({ length: 20 }, (_, number) => ({ id: `large-${number}`, name: `Large ${number}`, kind: 'bus', effects: delays }));
  const largeSong = { ...song, tracks: [...song.tracks, ...buses] };
  const saveResponse = await page.request.put(address, { data: largeSong, headers: { 'If-Match': storedSong.headers()['etag'] ?? '' } });
  expect(saveResponse.status(), await saveResponse.text()).toBe(200);

  try {
    await openDemo(page, service);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText(' MiB for delay effects (900)');
    await page.screenshot({ path: 'output/too-large.png' });
  } finally {
    // Other specs also open the demo song, so the test restores it.
    const restoreResponse = await page.request.put(address, { data: song, headers: { 'If-Match': saveResponse.headers()['etag'] ?? '' } });
    expect(restoreResponse.status(), await restoreResponse.text()).toBe(200);
  }
});
