/** Screenshots of the page for people to look at, in `output/page-<width>x<height>.png`. */
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
    const overflow = await page.evaluate(() => ({
      right: document.documentElement.scrollWidth - window.innerWidth,
      bottom: document.documentElement.scrollHeight - window.innerHeight,
    }));
    expect(overflow).toEqual({ right: 0, bottom: 0 });
  });
}
