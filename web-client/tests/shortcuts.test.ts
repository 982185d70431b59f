import { describe, expect, it, vi } from 'vitest';

import { tabShortcuts } from '../src/keyboard/shortcuts';
import type { EditorTab } from '../src/rooms/editor/tabs';
import type { Workspace } from '../src/state/contexts';

vi.mock('../src/rooms/editor/tabs', () => ({ EDITOR_TABS: [] }));

describe('the shortcuts of editor tabs', () => {
  it('show their tab, and exist only for tabs that define one', () => {
    const matches = (event: KeyboardEvent): boolean => event.key === '3';
    const tabs = [
      { id: 'roll', title: 'Piano roll' },
      { id: 'automation', title: 'Automation', shortcut: { keys: 'Alt 3', matches } },
    ] as unknown as EditorTab[];
    const shortcuts = tabShortcuts(tabs);
    expect(shortcuts).toEqual([{ group: 'View', keys: 'Alt 3', label: 'Show Automation', matches, action: expect.any(Function) }]);
    const showEditor = vi.fn();
    shortcuts[0]?.action({ view: { showEditor } } as unknown as Workspace, {} as KeyboardEvent);
    expect(showEditor).toHaveBeenCalledWith('automation');
  });
});
