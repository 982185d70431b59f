/** Short messages at the edge of the page. */
import { reasonOf } from '../api/client';

export type NoticeAction = { label: string; action: () => void };
export type Notice = {
  id: number;
  kind: 'info' | 'done' | 'error';
  text: string;
  actions: NoticeAction[];
};

/** Display times of notices without actions, of errors, and of notices with actions. */
const INFO_MS = 6000;
const ERROR_MS = 14000;
const ACTIONS_MS = 20000;

export class Notices {
  visibleNotices = $state.raw<readonly Notice[]>([]);
  #nextId = 1;

  /**
   * Shows a message for 6 to 20 seconds. With `isPersistent` the message is shown until the user
   * dismisses it. Only the newest four messages are shown. Returns the id of the notice.
   */
  show(kind: Notice['kind'], text: string, actions: NoticeAction[] = [], isPersistent = false): number {
    const id = this.#nextId++;
    this.visibleNotices = [...this.visibleNotices.filter((notice) => notice.text !== text), { id, kind, text, actions }].slice(-4);
    const durationMs = actions.length > 0 ? ACTIONS_MS : kind === 'error' ? ERROR_MS : INFO_MS;
    if (!isPersistent) setTimeout(() => this.dismiss(id), durationMs);
    return id;
  }

  /** Shows an error: `problem`, a colon and the reason of the failure. */
  showFailure(problem: string, error: unknown): void {
    this.show('error', `${problem}: ${reasonOf(error)}`);
  }

  dismiss(id: number): void {
    this.visibleNotices = this.visibleNotices.filter((notice) => notice.id !== id);
  }
}
