/** Accounts on the page: first log-in, keys, invitations, administration. */
import type { Page } from '@playwright/test';
import { addUser, logIn, PASSWORD, remoteAddress } from '../support/accounts';
import { expect, test } from '../support/service';

test.use({ settings: { SF_REGISTRATION: 'invite' } });

async function openAccount(page: Page, entry: string): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
}

async function takeScreenshots(page: Page, name: string): Promise<void> {
  for (const size of [
    { width: 1440, height: 900 },
    { width: 1024, height: 768 },
  ]) {
    await page.setViewportSize(size);
    await page.screenshot({ path: `output/${name}-${size.width}x${size.height}.png` });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

test('a first log-in demands a new password, and API keys can be created and deleted', async ({ page, service }) => {
  const firstPassword = await addUser(page.request, service, 'ada');
  await page.goto(remoteAddress(service));
  await logIn(page, 'ada', firstPassword);
  await expect(page.getByText('Choose a new password to continue')).toBeVisible();
  await page.getByLabel('Current password').fill(firstPassword);
  await page.getByLabel('New password', { exact: true }).fill('password');
  await page.getByLabel('New password again').fill('password');
  await expect(page.getByText(/choose a stronger one/)).toBeVisible();
  await takeScreenshots(page, 'accounts-must-change');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('alert')).toContainText('too easy to guess');
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('alert')).toContainText('differ');
  await page.getByLabel('New password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();

  await page.getByRole('button', { name: 'Account of ada' }).click();
  await expect(page.getByRole('menuitem', { name: 'Administration' })).toHaveCount(0);
  await takeScreenshots(page, 'accounts-menu');
  await page.keyboard.press('Escape');
  await openAccount(page, 'API keys…');
  await page.getByLabel('Name of the new key').fill('nightly export');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const key = await page.getByRole('group', { name: /nightly export/ }).locator('code').innerText();
  const asKey = { headers: { Authorization: `Bearer ${key}` } };
  const me = await page.request.get(remoteAddress(service, '/api/v1/auth/me').replace('studio.example', '127.0.0.1'), asKey);
  expect(((await me.json()) as { username: string }).username).toBe('ada');
  await takeScreenshots(page, 'accounts-keys');
  await page.getByRole('button', { name: 'Delete the key nightly export' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('There are no keys yet.')).toBeVisible();
  const afterDeletion = await page.request.get(`${service.url}/api/v1/auth/me`, asKey);
  expect(afterDeletion.status()).toBe(401);
  await page.keyboard.press('Escape');

  await openAccount(page, 'Log out');
  await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
  await logIn(page, 'ada', PASSWORD);
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();
});

test('a password is changed from the menu, and other sessions end', async ({ page, browser, service }) => {
  const firstPassword = await addUser(page.request, service, 'eve');
  await page.goto(remoteAddress(service));
  await logIn(page, 'eve', firstPassword);
  await page.getByLabel('Current password').fill(firstPassword);
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('New password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();

  const secondPage = await (await browser.newContext()).newPage();
  await secondPage.goto(remoteAddress(service));
  await logIn(secondPage, 'eve', PASSWORD);
  await expect(secondPage.getByRole('list', { name: 'Tracks' })).toBeVisible();

  await openAccount(page, 'Change password…');
  await page.getByLabel('Current password').fill('not it');
  await page.getByLabel('New password', { exact: true }).fill('vermilion-otter-413-quay');
  await page.getByLabel('New password again').fill('vermilion-otter-413-quay');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('current password is wrong');
  await takeScreenshots(page, 'accounts-password');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();

  await secondPage.reload();
  await expect(secondPage.getByRole('button', { name: 'Log in' })).toBeVisible();
  await secondPage.context().close();
});

test('an administrator adds, invites and manages users', async ({ page, browser, service }) => {
  await page.goto(service.url);
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();
  await page.getByRole('button', { name: 'Account of admin' }).click();
  // A local visitor needs no log-in, so there is no log-out.
  await expect(page.getByRole('menuitem', { name: 'Log out', exact: true })).toHaveCount(0);
  await page.getByRole('menuitem', { name: 'Administration…' }).click();

  const administration = page.getByRole('dialog', { name: 'Administration' });
  await administration.getByLabel('Name of a new user').fill('bob');
  await administration.getByRole('button', { name: 'Add user' }).click();
  await expect(administration.getByRole('group', { name: 'Generated password of bob' })).toBeVisible();
  const bobRow = administration.getByRole('row', { name: /bob/ });
  await expect(bobRow).toContainText('Must change password');
  await takeScreenshots(page, 'administration-users');
  await administration.getByLabel('Name of a new user').fill('bob');
  await administration.getByRole('button', { name: 'Add user' }).click();
  await expect(administration.getByRole('alert')).toContainText('`bob` already');

  await bobRow.getByRole('button', { name: 'Actions for bob' }).click();
  await page.getByRole('menuitem', { name: 'Set quota…' }).click();
  await administration.getByLabel('bob may store').fill('5');
  await administration.getByRole('button', { name: 'Set', exact: true }).click();
  await expect(bobRow).toContainText('5.0 GB');
  await bobRow.getByRole('button', { name: 'Actions for bob' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await expect(bobRow).toContainText('Disabled');
  const adminRow = administration.getByRole('row', { name: /^admin/ });
  await adminRow.getByRole('button', { name: 'Actions for admin' }).click();
  await page.getByRole('menuitem', { name: 'Change role to user' }).click();
  await expect(administration.getByRole('alert')).toContainText('last administrator');

  await administration.getByRole('tab', { name: 'Invitations' }).click();
  await administration.getByLabel('Note').fill('Cyd, from the choir');
  await administration.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = await administration.getByRole('group', { name: /Link of the invitation/ }).locator('code').innerText();
  await takeScreenshots(page, 'administration-invites');

  const guest = await (await browser.newContext()).newPage();
  const { pathname, hash } = new URL(link);
  await guest.goto(remoteAddress(service, pathname + hash));
  await guest.getByLabel('Name', { exact: true }).fill('cyd');
  await guest.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await guest.getByLabel('Password again').fill(PASSWORD);
  await takeScreenshots(guest, 'accounts-register');
  await guest.getByRole('button', { name: 'Make the account' }).click();
  await expect(guest.getByRole('button', { name: 'Account of cyd' })).toBeVisible();
  expect(new URL(guest.url()).hash).toBe('');
  await guest.context().close();

  for (let attempt = 0; attempt < 5; attempt += 1) {
    const data = { username: 'cyd', password: 'not it' };
    expect((await page.request.post(`${service.url}/api/v1/auth/login`, { data })).status()).toBe(401);
  }
  await administration.getByRole('tab', { name: 'Throttled log-ins' }).click();
  const throttledRow = administration.getByRole('row', { name: /cyd/ });
  await expect(throttledRow).toContainText('127.0.0.1');
  await takeScreenshots(page, 'administration-throttled');
  await throttledRow.getByRole('button', { name: 'End the wait' }).click();
  await expect(administration.getByText('No account or address has to wait.')).toBeVisible();

  await administration.getByRole('tab', { name: 'Storage' }).click();
  await expect(administration.getByRole('row', { name: /^admin/ })).toContainText('kB');
  await takeScreenshots(page, 'administration-storage');
  await administration.getByRole('tab', { name: 'Invitations' }).click();
  await expect(administration.getByRole('row', { name: /Cyd, from the choir/ })).toContainText('Used by cyd');
  await administration.getByRole('tab', { name: 'Activity' }).click();
  await expect(administration.getByRole('row', { name: /cyd Registered/ })).toBeVisible();
  await takeScreenshots(page, 'administration-activity');
  await administration.getByLabel('Show only this action').selectOption({ label: 'Changed a quota' });
  await expect(administration.getByRole('row', { name: /bob: 5000000000 bytes/ })).toBeVisible();
  await expect(administration.getByRole('row')).toHaveCount(2);
});
