/** Who is logged in, and what the service can do. */
import { Api, ApiError } from '../api/client';
import { capabilities, login, loginLocal, me, refresh, changePassword, logout } from '../api/endpoints';
import type { Capabilities, TokenAnswer, User } from '../api/types';
import { isStringOrNull, readStored, writeStored } from './stored';

export type SessionPhase = 'starting' | 'login' | 'password' | 'open' | 'unreachable';

/** How often the token is renewed while the page is open, in milliseconds. */
const RENEW_MS = 60 * 60 * 1000;

export class Session {
  readonly api = new Api();
  phase = $state<SessionPhase>('starting');
  user = $state.raw<User | null>(null);
  capabilities = $state.raw<Capabilities | null>(null);
  /** Why the service cannot be reached, in the phase `unreachable`. */
  problem = $state('');

  constructor() {
    this.api.onUnauthorised = () => this.#end();
    setInterval(() => void this.#renew(), RENEW_MS);
  }

  /** Finds out who we are: by the kept token, else by the local log-in, else by asking. */
  async start(): Promise<void> {
    this.phase = 'starting';
    try {
      this.capabilities = await capabilities(this.api);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.phase = 'unreachable';
      return;
    }
    this.api.token = readStored<string | null>('token', null, isStringOrNull);
    if (this.api.token !== null) {
      try {
        this.#enter(await me(this.api));
        return;
      } catch {
        this.#forget();
      }
    }
    try {
      this.#accept(await loginLocal(this.api));
    } catch (error) {
      if (error instanceof ApiError && error.status === 0) {
        this.problem = error.message;
        this.phase = 'unreachable';
      } else {
        this.phase = 'login';
      }
    }
  }

  async login(username: string, password: string): Promise<void> {
    this.#accept(await login(this.api, username, password));
  }

  async changePassword(current: string, next: string): Promise<void> {
    this.#accept(await changePassword(this.api, current, next));
  }

  /** Ends every token of this account, and begins the page anew. */
  async logout(): Promise<void> {
    await logout(this.api);
    this.#forget();
    window.location.reload();
  }

  #accept(answer: TokenAnswer): void {
    this.api.token = answer.access_token;
    writeStored('token', answer.access_token);
    this.#enter(answer.user);
  }

  #enter(user: User): void {
    // What is open belongs to whoever was logged in before.
    if (this.user !== null && this.user.id !== user.id) window.location.reload();
    this.user = user;
    this.phase = user.must_change_password ? 'password' : 'open';
  }

  #forget(): void {
    this.api.token = null;
    writeStored('token', null);
  }

  #end(): void {
    this.#forget();
    if (this.phase === 'open' || this.phase === 'password') this.phase = 'login';
  }

  async #renew(): Promise<void> {
    if (this.phase !== 'open' || this.api.token === null) return;
    try {
      this.#accept(await refresh(this.api));
    } catch {
      // The next request that needs the token says so, and leads to the log-in.
    }
  }
}
