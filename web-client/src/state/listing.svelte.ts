/** A list that the service gives in pages, read on as far as one looks. */
import { reasonOf } from '../api/client';
import type { Listing as Page } from '../api/types';

export class Listing<T extends { id: string }> {
  items = $state.raw<readonly T[]>([]);
  state = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Why it cannot be read, in the state `failed`. */
  problem = $state('');
  #next = $state.raw<string | null>(null);
  #read: (cursor: string | undefined) => Promise<Page<T>>;
  /** Counts beginnings, so that an answer to an older question is dropped. */
  #asked = 0;

  constructor(read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#read = read;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** Reads the first page anew. */
  async load(): Promise<void> {
    const asked = ++this.#asked;
    this.state = 'loading';
    await this.#take(asked, undefined, []);
  }

  async more(): Promise<void> {
    if (this.#next === null || this.state === 'loading') return;
    const asked = ++this.#asked;
    this.state = 'loading';
    await this.#take(asked, this.#next, this.items);
  }

  /** Puts a changed entry in its place. */
  replace(changed: T): void {
    this.items = this.items.map((item) => (item.id === changed.id ? changed : item));
  }

  async #take(asked: number, cursor: string | undefined, before: readonly T[]): Promise<void> {
    try {
      const page = await this.#read(cursor);
      if (asked !== this.#asked) return;
      this.items = [...before, ...page.items];
      this.#next = page.next_cursor;
      this.state = 'ready';
    } catch (error) {
      if (asked !== this.#asked) return;
      this.problem = reasonOf(error);
      this.state = 'failed';
    }
  }
}
