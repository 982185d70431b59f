import { describe, expect, it } from 'vitest';

import { Song } from '../src/state/editing/song.svelte';
import { emptyProject } from '../src/project/normalize';
import { autosaveDocument, readAutosaveDocument } from '../src/state/songs/autosave-document';
import { copiesNotIn } from '../src/state/songs/restoring';

const project = { ...emptyProject(), client: { zoom: 2 } };

describe('the document of an autosave', () => {
  it('contains the base revision and the edit number, and gives the same project back', () => {
    const work = { project, baseRevision: 7, editNumber: 3 };
    const document: unknown = JSON.parse(JSON.stringify(autosaveDocument(work)));
    expect(readAutosaveDocument(document)).toEqual(work);
    const { client, ...withoutClient } = project;
    expect(client).toBeDefined();
    const never = { project: withoutClient, baseRevision: null, editNumber: 1 };
    expect(readAutosaveDocument(autosaveDocument(never))).toEqual(never);
  });
});

describe('restored work', () => {
  it('has its own base revision, also after undo and redo', () => {
    const song = new Song();
    song.open(emptyProject(), 7, true);
    song.edit('Rename', (currentSong) => ({ ...currentSong, name: 'edited' }));
    song.restore('Restore unsaved work', project, 5);
    song.edit('Rename', (currentSong) => ({ ...currentSong, name: 'edited again' }));
    const revisions = [song.revision];
    for (const step of [3, 1, 0, 2, 3]) {
      song.goToEdit(step);
      revisions.push(song.revision);
    }
    expect(revisions).toEqual([5, 5, 7, 7, 5, 5]);
    song.markSaved(song.project, 8);
    song.goToEdit(0);
    expect(song.revision, 'a save is the base of all versions').toBe(8);
  });
});

describe('copies in the browser', () => {
  const copy = (windowId: string, editNumber: number) => ({ windowId, userId: 'u', project, baseRevision: 1, editNumber, atMs: 0 });
  const autosave = { windowId: 'w', project, baseRevision: 1, editNumber: 5, atMs: 0 };

  it('of the window that autosaved count only with later edits', () => {
    expect(copiesNotIn(autosave, [copy('w', 4), copy('w', 5)])).toEqual([]);
    expect(copiesNotIn(autosave, [copy('w', 6)])).toEqual([copy('w', 6)]);
  });

  it('of other windows count, and all copies without an autosave', () => {
    expect(copiesNotIn(autosave, [copy('v', 1)])).toEqual([copy('v', 1)]);
    expect(copiesNotIn(null, [copy('w', 1)])).toEqual([copy('w', 1)]);
  });
});
