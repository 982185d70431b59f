/**
 * Pictures of every screen for people to look at, in `output/pictures/`: at three sizes, with an
 * empty song, the demo song and a large one. Each screen must fit its window.
 */
import type { Page } from '@playwright/test';
import { openDemo } from '../support/demo';
import { largeSong } from '../support/large-song';
import { expect, test, type Service } from '../support/service';

type Song = { name: string; open: (page: Page, service: Service) => Promise<void> };

/** Shows or hides the browser of sounds and songs, which small windows hide at first. */
async function showBrowser(page: Page, isShown: boolean): Promise<void> {
  await page.getByRole('button', { name: 'View menu' }).click();
  const entry = page.getByRole('menuitemcheckbox', { name: 'Browser', exact: true });
  await expect(entry).toBeVisible();
  if ((await entry.isChecked()) === isShown) await page.keyboard.press('Escape');
  else await entry.click();
  await expect(page.getByRole('menu')).toHaveCount(0);
}

async function openFromList(page: Page, service: Service, name: string): Promise<void> {
  await page.goto(service.url);
  await showBrowser(page, true);
  await page.getByRole('tab', { name: 'Songs' }).click();
  await page.getByRole('button', { name }).click();
}

const SONGS: Song[] = [
  {
    name: 'empty',
    open: async (page, service) => {
      await openFromList(page, service, 'New song');
      await expect(page.getByRole('list', { name: 'Tracks' }).getByRole('listitem')).toHaveCount(0);
    },
  },
  { name: 'demo', open: openDemo },
  {
    name: 'large',
    open: async (page, service) => {
      await page.request.post(`${service.url}/api/v1/projects`, { data: largeSong() });
      await openFromList(page, service, 'Open Large song');
      await expect(page.getByRole('listitem', { name: 'Track Track 1', exact: true })).toBeVisible();
    },
  },
];

for (const [width, height] of [[1440, 900], [1024, 768], [1920, 1080]] as const) {
  for (const { name, open } of SONGS) {
    test(`the ${name} song fits ${width}x${height}`, async ({ page, service }) => {
      await page.setViewportSize({ width, height });
      await open(page, service);
      await showBrowser(page, true);
      const picture = async (screen: string): Promise<void> => {
        await page.screenshot({ path: `output/pictures/${name}-${screen}-${width}x${height}.png` });
        const root = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
        expect(root, `the ${screen} does not fit`).toEqual([0, 0]);
      };
      await picture('songs');
      await page.getByRole('tab', { name: 'Sounds' }).click();
      if (width < 1280) await showBrowser(page, false);
      if (name !== 'empty') await page.getByLabel('Clips of the tracks').click({ position: { x: 120, y: 30 } });
      await picture('piano-roll');
      for (const tab of ['Effects', 'Automation', 'Keys']) {
        await page.getByRole('tab', { name: tab, exact: true }).click();
        await expect(page.getByRole('tabpanel', { name: tab, exact: true })).not.toBeEmpty();
        await picture(tab.toLowerCase());
      }
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await expect(page.getByRole('dialog', { name: 'Export' })).toBeVisible();
      await picture('export');
    });
  }
}
