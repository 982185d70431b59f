/** Starting the page while the service is busy. */
import { expect, test } from '../support/service';

test('a page that starts while the service is busy shows it, retries and stays logged in', async ({ page, service }) => {
  await page.goto(service.url);
  const tracks = page.getByRole('list', { name: 'Tracks' });
  await expect(tracks).toBeVisible();
  const token = (): Promise<string | null> => page.evaluate(() => localStorage.getItem('songfoundry.token'));
  const tokenBefore = await token();
  expect(tokenBefore).not.toBeNull();

  let refusals = 0;
  await page.route('**/api/v1/auth/me', async (route) => {
    refusals += 1;
    if (refusals > 2) return route.continue();
    const detail = 'The database is busy; try again.';
    return route.fulfill({ status: 503, json: { status: 503, code: 'database_busy', detail } });
  });
  await page.reload();
  await expect(page.getByRole('alert')).toContainText('The page cannot start yet: The database is busy');
  expect(await token()).toBe(tokenBefore);
  await expect(tracks).toBeVisible();
  expect([refusals, await token()]).toEqual([3, tokenBefore]);
});
