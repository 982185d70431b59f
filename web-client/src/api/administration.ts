/** Calls the service's operations for administrators, one function per operation. */
import { bodyOf, type Api } from './client';
import type { AccountChange, AuditAction, Role, Throttled } from './types';

type Paging = { cursor?: string | undefined };

/** Returns the query parameters whose values are neither undefined nor empty. */
function withoutEmpty<T extends Record<string, string | undefined>>(query: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value)) as { [K in keyof T]?: NonNullable<T[K]> };
}

export const listUsers = ({ call }: Api, { search, cursor }: Paging & { search?: string }) =>
  bodyOf(call.GET('/api/v1/admin/users', { params: { query: withoutEmpty({ search, cursor }) } }));
export const createUser = ({ call }: Api, username: string, role: Role) =>
  bodyOf(call.POST('/api/v1/admin/users', { body: { username, role } }));
export const changeUser = ({ call }: Api, id: string, change: AccountChange) =>
  bodyOf(call.PATCH('/api/v1/admin/users/{id}', { params: { path: { id } }, body: change }));
export const resetPassword = ({ call }: Api, id: string) =>
  bodyOf(call.POST('/api/v1/admin/users/{id}/reset-password', { params: { path: { id } } }));

export const listInvites = ({ call }: Api, { cursor }: Paging) =>
  bodyOf(call.GET('/api/v1/admin/invites', { params: { query: withoutEmpty({ cursor }) } }));
export const createInvite = ({ call }: Api, invite: { role: Role; note: string; expires_in_secs: number }) =>
  bodyOf(call.POST('/api/v1/admin/invites', { body: invite }));
export const deleteInvite = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/admin/invites/{id}', { params: { path: { id } } }));

export const listThrottled = ({ call }: Api, { cursor }: Paging) =>
  bodyOf(call.GET('/api/v1/admin/throttled', { params: { query: withoutEmpty({ cursor }) } }));
export const liftThrottling = ({ call }: Api, { username, address }: Pick<Throttled, 'username' | 'address'>) =>
  bodyOf(
    call.DELETE('/api/v1/admin/throttled', {
      params: { query: withoutEmpty({ username: username ?? undefined, address: address ?? undefined }) },
    }),
  );

export const readStorage = ({ call }: Api) => bodyOf(call.GET('/api/v1/admin/storage'));

export const listAudit = ({ call }: Api, { action, user, cursor }: Paging & { action?: AuditAction | undefined; user?: string }) =>
  bodyOf(call.GET('/api/v1/admin/audit', { params: { query: withoutEmpty({ action, user, cursor }) } }));
