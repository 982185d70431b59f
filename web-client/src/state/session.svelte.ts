/** Who is logged in, and what the service can do. */
import { Api, ApiError } from '../api/client';
import { changePassword, login, loginLocal, logout, me, refresh, register } from '../api/accounts';
import { capabilities } from '../api/endpoints';
import type { Capabilities, TokenAnswer, User } from '../api/types';
import { isStringOrNull, readStored, writeStored } from './stored';

export type SessionPhase = 'starting' | 'login' | 'password' | 'open' | 'unreachable';

/** How often the token is renewed while the page is open, in milliseconds. */
const RENEW_MS = 60 * 60 * 1000;

export class Session {
  readonly api = new Api();
  phase = $state<SessionPhase>('starting');
  user = $state.raw<User | null>(null);
  /** Whether we are the administrator by being on the service's machine: logging out changes nothing then. */
  local = $state(false);
  /** Code of the invitation in the page's address, if one stands there. */
  readonly invite = new URLSearchParams(window.location.hash.slice(1)).get('invite');
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
        const { local, ...user } = await me(this.api);
        this.local = local;
        this.#enter(user);
        return;
      } catch {
        this.#forget();
      }
    }
    try {
      this.#accept(await loginLocal(this.api));
      this.local = true;
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

  /** Makes an account and logs in to it; the invitation's code goes from the page's address. */
  async register(username: string, password: string): Promise<void> {
    this.#accept(await register(this.api, username, password, this.invite));
    window.history.replaceState(null, '', window.location.pathname);
  }

  /** Sets a new password; every other token of this account ends. `current` is null where there is none yet. */
  async changePassword(current: string | null, next: string): Promise<void> {
    this.#accept(await changePassword(this.api, current, next));
  }

  /** Ends this page's token, or every token of this account, and begins the page anew. */
  async logout(everywhere: boolean): Promise<void> {
    await logout(this.api, everywhere);
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
