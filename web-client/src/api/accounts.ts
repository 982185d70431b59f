/** Calls the service's operations on the caller's own account, one function per operation. */
import { bodyOf, type Api } from './client';
import type { ApiKeyList } from './types';

export const logInLocally = ({ call }: Api) => bodyOf(call.POST('/api/v1/auth/local'));
export const login = ({ call }: Api, username: string, password: string) =>
  bodyOf(call.POST('/api/v1/auth/login', { body: { username, password } }));
export const register = ({ call }: Api, username: string, password: string, invite: string | null) =>
  bodyOf(call.POST('/api/v1/auth/register', { body: { username, password, invite } }));
export const me = ({ call }: Api) => bodyOf(call.GET('/api/v1/auth/me'));
export const refresh = ({ call }: Api) => bodyOf(call.POST('/api/v1/auth/refresh'));
export const logout = ({ call }: Api, endsAllSessions: boolean) =>
  bodyOf(call.POST('/api/v1/auth/logout', { params: { query: { everywhere: endsAllSessions } } }));
/** Changes the password. `currentPassword` is null for an account that has none yet. */
export const changePassword = ({ call }: Api, currentPassword: string | null, newPassword: string) =>
  bodyOf(call.POST('/api/v1/auth/password', { body: { current_password: currentPassword, new_password: newPassword } }));
export const passwordStrength = ({ call }: Api, password: string, signal: AbortSignal) =>
  bodyOf(call.POST('/api/v1/auth/password-strength', { body: { password }, signal }));

/** Returns all API keys of the caller. It reads every page of the service's list. */
export async function listApiKeys({ call }: Api): Promise<ApiKeyList> {
  const page = (query: { limit: number; cursor?: string }) => bodyOf(call.GET('/api/v1/auth/api-keys', { params: { query } }));
  let apiKeys = await page({ limit: 200 });
  while (apiKeys.next_cursor !== null) {
    const nextPage = await page({ limit: 200, cursor: apiKeys.next_cursor });
    apiKeys = { ...nextPage, items: [...apiKeys.items, ...nextPage.items] };
  }
  return apiKeys;
}
export const createApiKey = ({ call }: Api, name: string) => bodyOf(call.POST('/api/v1/auth/api-keys', { body: { name } }));
export const deleteApiKey = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/auth/api-keys/{id}', { params: { path: { id } } }));
