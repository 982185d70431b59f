/** The log-in of the page, and the capabilities of the service. */
import { Api, ApiError, reasonOf } from '../../api/client';
import { changePassword, login, loginLocal, logout, me, refresh, register } from '../../api/accounts';
import { capabilities } from '../../api/endpoints';
import type { Capabilities, TokenAnswer, User } from '../../api/types';
import { isTemporary, retryDelaySecs } from './retry';
import { isStringOrNull, readStored, writeStored } from '../local-storage';

/**
 * The page asks the service for the visitor's account (`starting`), and repeats the request later
 * if the service is busy (`waiting`). `password` demands a new password first; `open` is logged in.
 */
export type SessionState =
  | { kind: 'starting' }
  | { kind: 'waiting'; problem: string; waitSecs: number }
  | { kind: 'unreachable'; problem: string }
  | { kind: 'login' }
  | { kind: 'password' }
  | { kind: 'open' };

/** Interval at which the open page renews its token, in milliseconds. */
const RENEW_MS = 60 * 60 * 1000;

export class Session {
  readonly api = new Api();
  state = $state.raw<SessionState>({ kind: 'starting' });
  /** The account that was logged in last; null before the first log-in. */
  user = $state.raw<User | null>(null);
  /**
   * Whether the visitor is the administrator by using the service's machine; logging out has no
   * effect then.
   */
  local = $state(false);
  /** Code of the invitation in the page's address; null without one. */
  readonly invite = new URLSearchParams(window.location.hash.slice(1)).get('invite');
  capabilities = $state.raw<Capabilities | null>(null);
  /** Counts calls of {@link start}: a newer call ends the older ones. */
  #starts = 0;

  constructor() {
    this.api.onUnauthorised = () => this.#end();
    setInterval(() => void this.#renew(), RENEW_MS);
  }

  /**
   * Identifies the visitor; repeats the request while the service is busy or does not answer.
   */
  async start(): Promise<void> {
    const start = ++this.#starts;
    const isSuperseded = (): boolean => start !== this.#starts;
    this.state = { kind: 'starting' };
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#identify();
        return;
      } catch (error) {
        if (isSuperseded()) return;
        const problem = reasonOf(error);
        if (!isTemporary(error)) {
          this.state = { kind: 'unreachable', problem };
          return;
        }
        for (let waitSecs = retryDelaySecs(failures, error); waitSecs > 0; waitSecs -= 1) {
          this.state = { kind: 'waiting', problem, waitSecs };
          await new Promise((resolve) => setTimeout(resolve, 1000));
          if (isSuperseded()) return;
        }
      }
    }
  }

  async login(username: string, password: string): Promise<void> {
    this.#accept(await login(this.api, username, password));
  }

  /** Makes an account and logs in to it; removes the invitation's code from the page's address. */
  async register(username: string, password: string): Promise<void> {
    this.#accept(await register(this.api, username, password, this.invite));
    window.history.replaceState(null, '', window.location.pathname);
  }

  /**
   * Sets a new password; all other tokens of the account end. `current` is null for an account
   * without one.
   */
  async changePassword(current: string | null, next: string): Promise<void> {
    this.#accept(await changePassword(this.api, current, next));
  }

  /** Ends this page's log-in, or all log-ins of the account, and reloads the page. */
  async logout(everywhere: boolean): Promise<void> {
    await logout(this.api, everywhere);
    this.#forget();
    window.location.reload();
  }

  /**
   * Identifies the visitor by the stored token, by the local log-in, or else by asking for a
   * log-in.
   */
  async #identify(): Promise<void> {
    this.capabilities = await capabilities(this.api);
    this.api.token = readStored<string | null>('token', null, isStringOrNull);
    if (this.api.token !== null) {
      try {
        const { local, ...user } = await me(this.api);
        this.local = local;
        this.#enter(user);
        return;
      } catch (error) {
        // `onUnauthorised` forgot a refused token; other failures do not concern the token.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      }
    }
    try {
      this.#accept(await loginLocal(this.api));
      this.local = true;
    } catch (error) {
      if (isTemporary(error)) throw error;
      this.state = { kind: 'login' };
    }
  }

  #accept(answer: TokenAnswer): void {
    this.api.token = answer.access_token;
    writeStored('token', answer.access_token);
    this.#enter(answer.user);
  }

  #enter(user: User): void {
    // The open song belongs to the account that was logged in before.
    if (this.user !== null && this.user.id !== user.id) window.location.reload();
    this.user = user;
    this.state = { kind: user.must_change_password ? 'password' : 'open' };
  }

  #forget(): void {
    this.api.token = null;
    writeStored('token', null);
  }

  #end(): void {
    this.#forget();
    const { kind } = this.state;
    if (kind === 'open' || kind === 'password') this.state = { kind: 'login' };
  }

  async #renew(): Promise<void> {
    if (this.state.kind !== 'open' || this.api.token === null) return;
    try {
      this.#accept(await refresh(this.api));
    } catch {
      // The next request that needs the token fails, and leads to the log-in.
    }
  }
}
