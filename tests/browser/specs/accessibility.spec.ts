/** axe-core finds nothing on any screen of the page, with every dialog and menu open. */
import type { Page } from '@playwright/test';
import { violationsOf } from '../support/accessibility';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

async function expectNone(page: Page, screen: string): Promise<void> {
  expect.soft(await violationsOf(page), screen).toEqual([]);
}

/** Chooses an entry of a menu in the header. */
async function choose(page: Page, menu: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
}

test('the workstation and its tabs', async ({ page, service }) => {
  await openDemo(page, service);
  await expectNone(page, 'the demo song');
  for (const tab of ['Plugin', 'Effects', 'Automation', 'Keys']) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    await expect(page.getByRole('tabpanel', { name: tab, exact: true })).not.toBeEmpty();
    await expectNone(page, `the tab ${tab}`);
  }
  await page.getByRole('tab', { name: 'Piano roll' }).click();
  await page.getByLabel('Clips of the tracks').click({ position: { x: 200, y: 30 } });
  await expectNone(page, 'a clip in the piano roll');
  await page.getByRole('tab', { name: 'Songs' }).click();
  await expectNone(page, 'the list of songs');
  await page.getByRole('button', { name: 'New song' }).click();
  await expect(page.getByRole('list', { name: 'Tracks' }).getByRole('listitem')).toHaveCount(0);
  await expectNone(page, 'an empty song');
});

test('menus', async ({ page, service }) => {
  await openDemo(page, service);
  const track = page.getByRole('list', { name: 'Tracks' }).getByRole('listitem').first();
  for (const menu of ['Project menu', 'Edit menu', 'View menu', 'Add a bus or a group']) {
    await page.getByRole('button', { name: menu, exact: true }).click();
    await expect(page.getByRole('menu')).toBeVisible();
    await expectNone(page, menu);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('menu')).toHaveCount(0);
    await expect(page.getByRole('button', { name: menu, exact: true })).toBeFocused();
  }
  // Keys open the menu and move in it, and a click on the button closes it.
  const button = page.getByRole('button', { name: 'View menu', exact: true });
  await button.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menu').locator(':focus')).toHaveCount(1);
  await button.click();
  await expect(page.getByRole('menu')).toHaveCount(0);
  await track.getByRole('button', { name: /^Instrument of/ }).click();
  await expect(page.getByRole('dialog', { name: /^Instrument of/ })).toBeVisible();
  await expectNone(page, 'the instruments of a track');
});

test('dialogs', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Export' })).toBeVisible();
  await expectNone(page, 'the export dialog');
  await closeDialog(page);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expectNone(page, 'the shortcuts');
  await closeDialog(page);
  await choose(page, 'Project menu', 'Plugins…');
  await expect(page.getByRole('dialog', { name: 'Plugins' })).toBeVisible();
  await expectNone(page, 'the dialog for plugins');
  await closeDialog(page);
  await page.getByRole('tab', { name: 'Songs' }).click();
  await page.getByRole('button', { name: /^Delete / }).first().click();
  await expect(page.getByRole('dialog', { name: /^Delete/ })).toBeVisible();
  await expectNone(page, 'the question before a deletion');
  await page.getByRole('button', { name: 'Keep it' }).click();
  await choose(page, 'Project menu', 'Sound settings…');
  await expect(page.getByRole('button', { name: /Close/ }).first()).toBeVisible();
  await expectNone(page, 'the sound settings');
});

test('a part of the page that cannot be loaded is reported, and loads after another try', async ({ page, service }) => {
  const part = /shortcuts-dialog-.*\.js/;
  await page.route(part, (route) => route.abort());
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await expect(page.getByText(/The list of shortcuts cannot be shown/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Reload the page' })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.unroute(part);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
});
