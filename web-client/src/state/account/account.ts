/** The account of the person at the page. */
import type { Notices } from '../notices.svelte';
import type { Session } from './session.svelte';

export class Account {
  readonly session: Session;
  readonly #notices: Notices;
  readonly #keepUnsavedWork: () => Promise<void>;

  /** `keepUnsavedWork` stores edits that are not saved; it is awaited before every log-out. */
  constructor(session: Session, notices: Notices, keepUnsavedWork: () => Promise<void>) {
    this.session = session;
    this.#notices = notices;
    this.#keepUnsavedWork = keepUnsavedWork;
  }

  /** Logs out here or everywhere; unsaved work stays as an autosave. */
  async logOut(everywhere: boolean): Promise<void> {
    await this.#keepUnsavedWork();
    try {
      await this.session.logout(everywhere);
    } catch (error) {
      this.#notices.failed('Logging out failed', error);
    }
  }
}
