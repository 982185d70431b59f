/** Logs the user in and out, and reads the capabilities of the service. */
import { Api, ApiError, reasonOf } from '../../api/client';
import { changePassword, login, logInLocally, logout, me, refresh, register } from '../../api/accounts';
import { capabilities } from '../../api/endpoints';
import type { Capabilities, TokenAnswer, User } from '../../api/types';
import { isTemporary, retryDelaySecs } from './retry';
import { isStringOrNull, readStored, writeStored } from '../local-storage';

/**
 * The page asks the service for the user's account (`starting`). If the service is busy, the page
 * repeats the request later (`waiting`). After an error that a retry would not resolve, the state
 * is `unreachable`. In the state `password` the user must choose a new password; in the state
 * `open` the user is logged in.
 */
export type SessionState =
  | { kind: 'starting' }
  | { kind: 'waiting'; problem: string; waitSecs: number }
  | { kind: 'unreachable'; problem: string }
  | { kind: 'login' }
  | { kind: 'password' }
  | { kind: 'open' };

/** Interval at which the page renews its token while the user is logged in, in milliseconds. */
const RENEW_MS = 60 * 60 * 1000;

export class Session {
  readonly api = new Api();
  state = $state.raw<SessionState>({ kind: 'starting' });
  /** The account of the last log-in; null before the first log-in. */
  user = $state.raw<User | null>(null);
  /**
   * Whether the user is the administrator without a log-in, because the browser runs on the same
   * machine as the service. Logging out has no effect then.
   */
  isLocal = $state(false);
  /** Code of the invitation in the address of the page; null if the address contains none. */
  readonly invite = new URLSearchParams(window.location.hash.slice(1)).get('invite');
  capabilities = $state.raw<Capabilities | null>(null);
  /** The formats of exported files. The user enters only after the page has read them. */
  get exportFormats(): Capabilities['export']['by_format'] {
    if (this.capabilities === null) throw new Error('the page has not read the capabilities of the service');
    return this.capabilities.export.by_format;
  }
  /** Number of calls of {@link start}. A newer call ends the retries of older calls. */
  #starts = 0;

  constructor() {
    this.api.onUnauthorized = () => this.#end();
    setInterval(() => void this.#renew(), RENEW_MS);
  }

  /** Identifies the user. Repeats this while the service is busy or does not answer. */
  async start(): Promise<void> {
    const startNumber = ++this.#starts;
    const isSuperseded = (): boolean => startNumber !== this.#starts;
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

  /** Creates an account, logs in, and removes the invitation's code from the page's address. */
  async register(username: string, password: string): Promise<void> {
    this.#accept(await register(this.api, username, password, this.invite));
    window.history.replaceState(null, '', window.location.pathname);
  }

  /**
   * Sets a new password, which ends all other sessions of the account. `current` is null for an
   * account without a password.
   */
  async changePassword(currentPassword: string | null, newPassword: string): Promise<void> {
    this.#accept(await changePassword(this.api, currentPassword, newPassword));
  }

  /** Ends this page's log-in, or all log-ins of the account, and reloads the page. */
  async logout(endsAllSessions: boolean): Promise<void> {
    await logout(this.api, endsAllSessions);
    this.#forget();
    window.location.reload();
  }

  /**
   * Identifies the user by the stored token, or by the local log-in. If neither is possible, the
   * page asks for a user name and a password.
   */
  async #identify(): Promise<void> {
    this.capabilities = await capabilities(this.api);
    this.api.token = readStored<string | null>('token', null, isStringOrNull);
    if (this.api.token !== null) {
      try {
        const { local, ...user } = await me(this.api);
        this.isLocal = local;
        this.#enter(user);
        return;
      } catch (error) {
        // After 401 `onUnauthorized` has removed the token. Other errors do not concern the token.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      }
    }
    try {
      this.#accept(await logInLocally(this.api));
      this.isLocal = true;
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
    // The open song belongs to another account, whose log-in ended before.
    if (this.user !== null && this.user.id !== user.id) window.location.reload();
    this.user = user;
    this.state = { kind: user.must_change_password ? 'password' : 'open' };
  }

  #forget(): void {
    this.api.token = null;
    writeStored('token', null);
  }

  /** Ends the log-in of the page after the service refused the token. */
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
      // If the token has become invalid, the next request gets 401 and shows the log-in.
    }
  }
}
