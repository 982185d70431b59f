/** Shapes of the service's answers about accounts and administration, under /api/v1. */
import type { Role } from './types';

/** A page of a list, newest first. */
export type Listing<T> = { items: T[]; next_cursor: string | null };

export type ApiKey = {
  id: string;
  name: string;
  /** The first characters of the key. */
  hint: string;
  created_at: string;
  last_used_at: string | null;
};
export type ApiKeyList = { items: ApiKey[]; most: number };
/** `key` is never shown again. */
export type MadeApiKey = ApiKey & { key: string };

export type Account = {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  must_change_password: boolean;
  has_password: boolean;
  created_at: string;
  last_login_at: string | null;
  audio_quota_bytes: number;
  has_own_quota: boolean;
};
/** `password` was generated and is never shown again; null if one was sent. */
export type ProvidedUser = { user: Account; password: string | null };
/** What is left out stays; a quota of null is everybody's. */
export type AccountChange = { role?: Role; disabled?: boolean; audio_quota_bytes?: number | null };

export type Invite = {
  id: string;
  state: 'open' | 'used' | 'expired';
  role: Role;
  note: string;
  created_by: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
  used_by: string | null;
};
export type MadeInvite = Invite & { code: string; register_path: string };

export type UserStorage = {
  user_id: string;
  username: string;
  audio_files: number;
  audio_bytes: number;
  audio_quota_bytes: number;
  projects: number;
  project_bytes: number;
  render_bytes: number;
  total_bytes: number;
};
export type Storage = {
  /** Whoever stores most first. */
  users: UserStorage[];
  audio_disk_bytes: number;
  render_disk_bytes: number;
  free_bytes: number | null;
};

export type AuditEntry = {
  id: string;
  at: string;
  action: string;
  actor_id: string | null;
  actor: string;
  via: 'local' | 'token' | 'api_key' | 'command_line' | 'nobody';
  address: string | null;
  target: string;
  detail: string;
};

