/** The operations of the service on the caller's account, one function each. */
import { bodyOf, type Api } from './client';
import type { ApiKeyList } from './types';

export const loginLocal = ({ call }: Api) => bodyOf(call.POST('/api/v1/auth/local'));
export const login = ({ call }: Api, username: string, password: string) =>
  bodyOf(call.POST('/api/v1/auth/login', { body: { username, password } }));
export const register = ({ call }: Api, username: string, password: string, invite: string | null) =>
  bodyOf(call.POST('/api/v1/auth/register', { body: { username, password, invite } }));
export const me = ({ call }: Api) => bodyOf(call.GET('/api/v1/auth/me'));
export const refresh = ({ call }: Api) => bodyOf(call.POST('/api/v1/auth/refresh'));
export const logout = ({ call }: Api, everywhere: boolean) =>
  bodyOf(call.POST('/api/v1/auth/logout', { params: { query: { everywhere } } }));
/** `currentPassword` is null for an account without a password. */
export const changePassword = ({ call }: Api, currentPassword: string | null, newPassword: string) =>
  bodyOf(call.POST('/api/v1/auth/password', { body: { current_password: currentPassword, new_password: newPassword } }));
export const passwordStrength = ({ call }: Api, password: string, signal: AbortSignal) =>
  bodyOf(call.POST('/api/v1/auth/password-strength', { body: { password }, signal }));

/** All API keys of the caller, from all pages of the list. */
export async function listApiKeys({ call }: Api): Promise<ApiKeyList> {
  const page = (query: { limit: number; cursor?: string }) => bodyOf(call.GET('/api/v1/auth/api-keys', { params: { query } }));
  let list = await page({ limit: 200 });
  while (list.next_cursor !== null) {
    const next = await page({ limit: 200, cursor: list.next_cursor });
    list = { ...next, items: [...list.items, ...next.items] };
  }
  return list;
}
export const createApiKey = ({ call }: Api, name: string) => bodyOf(call.POST('/api/v1/auth/api-keys', { body: { name } }));
export const deleteApiKey = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/auth/api-keys/{id}', { params: { path: { id } } }));
