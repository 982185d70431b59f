/** The service's operations for administrators, one function each. */
import type {
  Account,
  AccountChange,
  AuditEntry,
  Invite,
  Listing,
  MadeInvite,
  ProvidedUser,
  Storage,
} from './account-types';
import type { Api } from './client';
import type { Role } from './types';

type Place = { cursor?: string | undefined };

export const listUsers = (api: Api, { search, cursor }: Place & { search?: string }) =>
  api.json<Listing<Account>>('GET', '/admin/users', { query: { search: search || undefined, cursor } });
export const createUser = (api: Api, username: string, role: Role) =>
  api.json<ProvidedUser>('POST', '/admin/users', { json: { username, role } });
export const changeUser = (api: Api, id: string, change: AccountChange) =>
  api.json<Account>('PATCH', `/admin/users/${encodeURIComponent(id)}`, { json: change });
export const resetPassword = (api: Api, id: string) =>
  api.json<ProvidedUser>('POST', `/admin/users/${encodeURIComponent(id)}/reset-password`);

export const listInvites = (api: Api, { cursor }: Place) =>
  api.json<Listing<Invite>>('GET', '/admin/invites', { query: { cursor } });
export const createInvite = (api: Api, invite: { role: Role; note: string; expires_in_secs: number }) =>
  api.json<MadeInvite>('POST', '/admin/invites', { json: invite });
export const deleteInvite = (api: Api, id: string) => api.send('DELETE', `/admin/invites/${encodeURIComponent(id)}`);

export const readStorage = (api: Api) => api.json<Storage>('GET', '/admin/storage');

export const listAudit = (api: Api, { action, user, cursor }: Place & { action?: string; user?: string }) =>
  api.json<Listing<AuditEntry>>('GET', '/admin/audit', {
    query: { action: action || undefined, user: user || undefined, cursor },
  });
