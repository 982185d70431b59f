/** Who is logged in, and what the service can do. */
import { Api, ApiError, reasonOf } from '../api/client';
import { changePassword, login, loginLocal, logout, me, refresh, register } from '../api/accounts';
import { capabilities } from '../api/endpoints';
import type { Capabilities, TokenAnswer, User } from '../api/types';
import { mayPass, waitSecs } from './retry';
import { isStringOrNull, readStored, writeStored } from './stored';

export type SessionPhase = 'starting' | 'login' | 'password' | 'open' | 'waiting' | 'unreachable';

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
  /** Why the service cannot be asked, in the phases `waiting` and `unreachable`. */
  problem = $state('');
  /** Seconds until the service is asked again, in the phase `waiting`. */
  waitSecs = $state(0);
  /** Counts starts, so that an older one ends. */
  #starts = 0;

  constructor() {
    this.api.onUnauthorised = () => this.#end();
    setInterval(() => void this.#renew(), RENEW_MS);
  }

  /**
   * Finds out who we are. Where the service is busy or does not answer, asks again and keeps the
   * token.
   */
  async start(): Promise<void> {
    const begun = ++this.#starts;
    this.phase = 'starting';
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#findOut();
        return;
      } catch (error) {
        if (begun !== this.#starts) return;
        this.problem = reasonOf(error);
        if (!mayPass(error)) {
          this.phase = 'unreachable';
          return;
        }
        this.phase = 'waiting';
        for (this.waitSecs = waitSecs(failures, error); this.waitSecs > 0; this.waitSecs -= 1) {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          // Somebody did not want to wait.
          if (begun !== this.#starts) return;
        }
      }
    }
  }

  /** Asks who we are: by the kept token, else by the local log-in, else the user. */
  async #findOut(): Promise<void> {
    this.capabilities = await capabilities(this.api);
    this.api.token = readStored<string | null>('token', null, isStringOrNull);
    if (this.api.token !== null) {
      try {
        const { local, ...user } = await me(this.api);
        this.local = local;
        this.#enter(user);
        return;
      } catch (error) {
        // A refused token was forgotten (`onUnauthorised`); every other failure says nothing about
        // it.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      }
    }
    try {
      this.#accept(await loginLocal(this.api));
      this.local = true;
    } catch (error) {
      if (mayPass(error)) throw error;
      this.phase = 'login';
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

  /** Ends this page's log-in, or every log-in of this account, and begins the page anew. */
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
