/** A remote visitor at an insecure address, where browsers disable AudioWorklet. */
import { expect, test } from '../support/service';

const PASSWORD = 'harbour-lantern-quartet-41';

test('an insecure address asks for a log-in and explains why there is no sound', async ({ page, service }) => {
  const passwordAnswer = await page.request.post(`${service.url}/api/v1/auth/password`, { data: { new_password: PASSWORD } });
  expect(passwordAnswer.status(), await passwordAnswer.text()).toBe(200);

  // The name is not local, so the visitor is not the local administrator.
  await page.goto(`http://studio.example:${service.port}/`);
  await page.getByLabel('Name', { exact: true }).fill('admin');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('alert')).toContainText('wrong');

  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('list', { name: 'Tracks' })).toBeVisible();
  await expect(page.getByText(/https/i).first()).toBeVisible();
  await page.screenshot({ path: 'output/page-insecure.png' });
});
