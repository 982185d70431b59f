/** The service's operations on the caller's account, one function each. */
import type { ApiKeyList, MadeApiKey } from './account-types';
import type { Api } from './client';
import type { Me, PasswordStrength, TokenAnswer } from './types';

export const loginLocal = (api: Api) => api.json<TokenAnswer>('POST', '/auth/local');
export const login = (api: Api, username: string, password: string) =>
  api.json<TokenAnswer>('POST', '/auth/login', { json: { username, password } });
export const register = (api: Api, username: string, password: string, invite: string | null) =>
  api.json<TokenAnswer>('POST', '/auth/register', { json: { username, password, ...(invite === null ? {} : { invite }) } });
export const me = (api: Api) => api.json<Me>('GET', '/auth/me');
export const refresh = (api: Api) => api.json<TokenAnswer>('POST', '/auth/refresh');
export const logout = (api: Api, everywhere: boolean) =>
  api.send('POST', '/auth/logout', { query: { everywhere: String(everywhere) } });
/** `currentPassword` is null where the account has none yet. */
export const changePassword = (api: Api, currentPassword: string | null, newPassword: string) =>
  api.json<TokenAnswer>('POST', '/auth/password', {
    json: { current_password: currentPassword, new_password: newPassword },
  });
export const passwordStrength = (api: Api, password: string, signal: AbortSignal) =>
  api.json<PasswordStrength>('POST', '/auth/password-strength', { json: { password }, signal });

export const listApiKeys = (api: Api) => api.json<ApiKeyList>('GET', '/auth/api-keys');
export const createApiKey = (api: Api, name: string) =>
  api.json<MadeApiKey>('POST', '/auth/api-keys', { json: { name } });
export const deleteApiKey = (api: Api, id: string) => api.send('DELETE', `/auth/api-keys/${encodeURIComponent(id)}`);
