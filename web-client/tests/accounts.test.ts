import { describe, expect, it } from 'vitest';

import type { Page } from '../src/api/types';
import { ApiError } from '../src/api/client';
import { formatWhen } from '../src/project/format';
import { describeAction } from '../src/rooms/administration/actions';
import { PagedList } from '../src/state/account/paged-list.svelte';

type Entry = { id: string; text?: string };

const page = (ids: string[], next: string | null = null): Page<Entry> => ({
  items: ids.map((id) => ({ id })),
  next_cursor: next,
});
const idsOf = (list: PagedList<Entry>): string[] => list.items.map((item) => item.id);

describe('a paged list', () => {
  it('reads a further page for each call of loadMore', async () => {
    const cursors: (string | undefined)[] = [];
    const list = new PagedList<Entry>((cursor) => {
      cursors.push(cursor);
      return Promise.resolve(cursor === undefined ? page(['a', 'b'], 'after-b') : page(['c']));
    });
    await list.load();
    expect([idsOf(list), list.hasMore, list.state.kind]).toEqual([['a', 'b'], true, 'ready']);
    await list.loadMore();
    expect([idsOf(list), list.hasMore]).toEqual([['a', 'b', 'c'], false]);
    await list.loadMore();
    expect(cursors).toEqual([undefined, 'after-b']);
    list.replace({ id: 'b', text: 'changed' });
    expect(list.items[1]).toEqual({ id: 'b', text: 'changed' });
  });

  it('drops the answer to an older request', async () => {
    const answers: ((answer: Page<Entry>) => void)[] = [];
    const list = new PagedList<Entry>(() => new Promise((resolve) => answers.push(resolve)));
    const [first, second] = [list.load(), list.load()];
    answers[1]?.(page(['new']));
    await second;
    answers[0]?.(page(['old']));
    await first;
    expect(idsOf(list)).toEqual(['new']);
  });

  it('has the reason of a failure, and can be read again after it', async () => {
    let isFailing = true;
    const list = new PagedList<Entry>(() =>
      isFailing
        ? Promise.reject(new ApiError({ status: 403, code: 'admin_only', detail: 'Not for you.' }))
        : Promise.resolve(page(['a'])),
    );
    await list.load();
    expect(list.state).toEqual({ kind: 'failed', problem: 'Not for you.' });
    isFailing = false;
    await list.load();
    expect([list.state.kind, idsOf(list)]).toEqual(['ready', ['a']]);
  });
});

describe('the audit log', () => {
  it('describes known and unknown actions', () => {
    expect(describeAction('log_in_failed')).toBe('Failed to log in');
    expect(describeAction('moon_landed')).toBe('moon landed');
  });

  it('shows times in the time zone of the browser', () => {
    const noon = new Date(2026, 0, 5, 12, 3).toISOString();
    expect(formatWhen(noon)).toBe('2026-01-05 12:03');
  });
});
