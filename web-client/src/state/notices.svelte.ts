/** Short messages at the edge of the page. */
import { reasonOf } from '../api/client';

export type NoticeAction = { label: string; action: () => void };
export type Notice = {
  id: number;
  kind: 'info' | 'done' | 'error';
  text: string;
  actions: NoticeAction[];
};

const INFO_MS = 6000;
const ERROR_MS = 14000;
const ACTIONS_MS = 20000;

export class Notices {
  list = $state.raw<readonly Notice[]>([]);
  #next = 1;

  /**
   * Shows a message for a while, longer with actions; `stay` shows it until the visitor dismisses
   * it.
   */
  show(kind: Notice['kind'], text: string, actions: NoticeAction[] = [], stay = false): number {
    const id = this.#next++;
    this.list = [...this.list.filter((notice) => notice.text !== text), { id, kind, text, actions }].slice(-4);
    const forMs = actions.length > 0 ? ACTIONS_MS : kind === 'error' ? ERROR_MS : INFO_MS;
    if (!stay) setTimeout(() => this.dismiss(id), forMs);
    return id;
  }

  /** Reports a failure in one sentence: `problem`, and the reason. */
  failed(problem: string, error: unknown): void {
    this.show('error', `${problem}: ${reasonOf(error)}`);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }
}
