/** Accounts of visitors from other machines. */
import type { APIRequestContext, Page } from '@playwright/test';
import { expect, type Service } from './service';

export const PASSWORD = 'harbour-lantern-quartet-41';

/** Returns the page's address for a remote visitor, who is not the local administrator. */
export const remoteAddress = (service: Service, path = '/'): string => `http://studio.example:${service.port}${path}`;

/** Creates a user as the local administrator, and returns the first password. */
export async function addUser(request: APIRequestContext, service: Service, username: string): Promise<string> {
  const response = await request.post(`${service.url}/api/v1/admin/users`, { data: { username } });
  expect(response.status(), await response.text()).toBe(201);
  return ((await response.json()) as { password: string }).password;
}

export async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
