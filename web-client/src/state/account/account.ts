/** The account of the user who is logged in. */
import type { Notices } from '../notices.svelte';
import type { Session } from './session.svelte';

export class Account {
  readonly session: Session;
  readonly #notices: Notices;
  readonly #keepUnsavedWork: () => Promise<void>;

  /** `keepUnsavedWork` stores unsaved edits. Every log-out waits until it has done so. */
  constructor(session: Session, notices: Notices, keepUnsavedWork: () => Promise<void>) {
    this.session = session;
    this.#notices = notices;
    this.#keepUnsavedWork = keepUnsavedWork;
  }

  /** Logs out on this page, or on all devices. Unsaved work is kept as an autosave. */
  async logOut(endsAllSessions: boolean): Promise<void> {
    await this.#keepUnsavedWork();
    try {
      await this.session.logout(endsAllSessions);
    } catch (error) {
      this.#notices.showFailure('Logging out failed', error);
    }
  }
}
