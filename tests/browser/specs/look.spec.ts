/** Screenshots of the page for people to look at, in `output/page-<width>x<height>.png`. */
import type { Page } from '@playwright/test';
import { openDemo, play, playToBar } from '../support/demo';
import { expect, test } from '../support/service';

for (const size of [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
]) {
  test(`the playing page fits its window at ${size.width}x${size.height}`, async ({ page, service }) => {
    await page.setViewportSize(size);
    await openDemo(page, service);
    await play(page);
    await playToBar(page, 3);
    const path = `output/page-${size.width}x${size.height}.png`;
    await page.screenshot({ path });
    await expectToFit(page);
    // A narrower window still shows all buttons of the header.
    await page.setViewportSize({ width: 800, height: 700 });
    await page.screenshot({ path: 'output/page-800x700.png' });
    await expectToFit(page);
  });
}

/**
 * Checks that the page does not scroll, and that the header shows its buttons from Undo to Export.
 */
async function expectToFit(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => ({
    right: document.documentElement.scrollWidth - window.innerWidth,
    bottom: document.documentElement.scrollHeight - window.innerHeight,
  }));
  expect(overflow).toEqual({ right: 0, bottom: 0 });
  const header = page.getByRole('banner', { name: 'Transport' });
  expect(await header.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  const edges = async (name: string): Promise<{ left: number; right: number }> => {
    const box = await header.getByRole('button', { name, exact: true }).boundingBox();
    return { left: box?.x ?? NaN, right: (box?.x ?? NaN) + (box?.width ?? NaN) };
  };
  expect((await edges('Save')).right).toBeLessThanOrEqual((await edges('Export')).left);
  for (const name of ['Undo', 'Play', 'Save', 'Export']) {
    await expect(header.getByRole('button', { name, exact: true })).toBeInViewport({ ratio: 1 });
  }
}
