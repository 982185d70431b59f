/**
 * A service on another machine plays sound through HTTPS, and explains through HTTP why it cannot.
 */
import type { Page } from '@playwright/test';
import { peak } from '../support/audio';
import { recorded, startRecording } from '../support/capture';
import { plugIn, type OtherMachine } from '../support/other-machine';
import { expect, test, type RunningService } from '../support/service';

const PASSWORD = 'harbour-lantern-quartet-41';

// The test creates the certificate, so browsers do not trust it.
test.use({ ignoreHTTPSErrors: true });

let machine: OtherMachine;
test.beforeAll(() => {
  machine = plugIn();
});
test.afterAll(() => {
  machine.unplug();
});

/** Logs in with the password that the first start printed, and sets another one. */
async function logInFirst(page: Page, service: RunningService): Promise<void> {
  const firstPassword = /password `([^`]+)`/.exec(service.greeting.join('\n'))?.[1];
  if (!firstPassword) throw new Error(`no password in: ${service.greeting.join('\n')}`);
  await page.goto(service.url);
  await page.getByLabel('Name', { exact: true }).fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(firstPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Current password').fill(firstPassword);
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('New password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();
}

test('through HTTPS a visitor from another machine logs in and plays the song', async ({ page }) => {
  const service = await machine.serve(true);
  try {
    expect(service.url).toBe(`https://${machine.address}:${service.port}`);
    await logInFirst(page, service);
    expect(await page.evaluate(() => [isSecureContext, crossOriginIsolated])).toEqual([true, true]);
    await expect(page.getByRole('button', { name: 'Play' })).toBeEnabled();
    await expect.poll(() => page.evaluate(() => window.songfoundry?.engine !== null)).toBe(true);
    await startRecording(page);
    const play = page.getByRole('button', { name: 'Play' });
    await play.click();
    // The page first loads a whole General MIDI bank from a debug build of the service.
    await expect(play).toHaveAttribute('aria-pressed', 'true');
    await expect
      .poll(async () => peak((await recorded(page)).left), { message: 'the page stays silent' })
      .toBeGreaterThan(0.01);
    await page.screenshot({ path: 'output/page-remote.png' });

    // HTTP redirects to HTTPS.
    const redirect = await page.request.get(service.url.replace('https:', 'http:'), { maxRedirects: 0 });
    expect([redirect.status(), redirect.headers().location]).toEqual([308, `${service.url}/`]);
  } finally {
    await service.stop();
  }
});

test('through HTTP the same address explains why there is no sound', async ({ page }) => {
  const service = await machine.serve(false);
  try {
    expect(service.url).toBe(`http://${machine.address}:${service.port}`);
    await logInFirst(page, service);
    expect(await page.evaluate(() => isSecureContext)).toBe(false);
    await expect(page.getByText(/https/i).first()).toBeVisible();
  } finally {
    await service.stop();
  }
});
