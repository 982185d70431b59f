/** A list that the service sends in pages. */
import { reasonOf } from '../../api/client';
import type { Page } from '../../api/types';

export type PagedListState = { kind: 'loading' } | { kind: 'ready' } | { kind: 'failed'; problem: string };

export class PagedList<T extends { id: string }> {
  items = $state.raw<readonly T[]>([]);
  state = $state.raw<PagedListState>({ kind: 'loading' });
  #nextCursor = $state.raw<string | null>(null);
  readonly #readPage: (cursor: string | undefined) => Promise<Page<T>>;
  /** Number of requests so far. Only the answer to the last request is used. */
  #requests = 0;

  constructor(readPage: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#readPage = readPage;
  }

  get hasMore(): boolean {
    return this.#nextCursor !== null;
  }

  /** Reads the first page and forgets all others. */
  load(): Promise<void> {
    return this.#read(undefined, []);
  }

  /** Reads the next page. */
  async loadMore(): Promise<void> {
    if (this.#nextCursor === null || this.state.kind === 'loading') return;
    await this.#read(this.#nextCursor, this.items);
  }

  /** Replaces the item that has the id of `newItem`. */
  replace(newItem: T): void {
    this.items = this.items.map((item) => (item.id === newItem.id ? newItem : item));
  }

  async #read(cursor: string | undefined, previousItems: readonly T[]): Promise<void> {
    const request = ++this.#requests;
    this.state = { kind: 'loading' };
    try {
      const page = await this.#readPage(cursor);
      if (request !== this.#requests) return;
      this.items = [...previousItems, ...page.items];
      this.#nextCursor = page.next_cursor;
      this.state = { kind: 'ready' };
    } catch (error) {
      if (request === this.#requests) this.state = { kind: 'failed', problem: reasonOf(error) };
    }
  }
}
