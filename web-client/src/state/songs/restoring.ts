/**
 * Finds unsaved work of windows that were closed or crashed, on the service and in this browser,
 * and restores it.
 */
import type { Api } from '../../api/client';
import { deleteTemp, listTemps, readTemp, readTempRevision } from '../../api/endpoints';
import { formatAgo } from '../../project/format';
import { emptyProject } from '../../project/normalize';
import type { Song } from '../editing/song.svelte';
import type { Notices } from '../notices.svelte';
import { readAutosaveDocument, type UnsavedWork } from './autosave-document';
import type { AutosaveOwner, Autosaves } from './autosaves.svelte';
import type { CopyStore, LocalCopy } from './local-copies';
import { isOpen } from './open-windows';
import type { Saving } from './saving.svelte';

/** Unsaved work of a window that is closed. */
type FoundWork = UnsavedWork & { windowId: string; atMs: number };
/** A song with unsaved work of closed windows. `atMs` is the time of the newest work. */
export type LeftSong = { projectId: string; name: string; atMs: number };

/**
 * Returns the copies with work that the autosave of their song lacks. An autosave of the same
 * window has a copy's work unless the copy has a later edit; an autosave of another window never
 * has it.
 */
export function copiesNotIn(autosave: FoundWork | null, copies: readonly LocalCopy[]): LocalCopy[] {
  return copies.filter((copy) => copy.windowId !== autosave?.windowId || copy.editNumber > autosave.editNumber);
}

export class Restoring {
  readonly #api: Api;
  readonly #song: Song;
  readonly #saving: Saving;
  readonly #autosaves: Autosaves;
  readonly #copies: CopyStore;
  readonly #userId: () => string | null;
  readonly #notices: Notices;

  constructor(
    api: Api,
    song: Song,
    unsaved: { saving: Saving; autosaves: Autosaves; copies: CopyStore },
    userId: () => string | null,
    notices: Notices,
  ) {
    this.#api = api;
    this.#song = song;
    this.#saving = unsaved.saving;
    this.#autosaves = unsaved.autosaves;
    this.#copies = unsaved.copies;
    this.#userId = userId;
    this.#notices = notices;
  }

  /** Returns the songs with unsaved work of closed windows, newest first. */
  async leftSongs(): Promise<LeftSong[]> {
    const songs = new Map<string, LeftSong>();
    const add = (song: LeftSong): void => {
      if ((songs.get(song.projectId)?.atMs ?? -Infinity) < song.atMs) songs.set(song.projectId, song);
    };
    for (const { project, atMs } of await this.#leftCopies()) add({ projectId: project.project_id, name: project.name, atMs });
    try {
      for (const { project_id, name, client_id, updated_at } of await listTemps(this.#api)) {
        if (!(await isOpen(client_id))) add({ projectId: project_id, name, atMs: Date.parse(updated_at) });
      }
    } catch (error) {
      this.#notices.showFailure('The list of unsaved songs cannot be read', error);
    }
    return [...songs.values()].sort((a, b) => b.atMs - a.atMs);
  }

  /**
   * Restores the unsaved work on a song. If the song was saved, it must be open, and the user can
   * undo the restoring. Returns false if there is no unsaved work.
   */
  async restore(id: string): Promise<boolean> {
    const { generation } = this.#song;
    try {
      const copies = (await this.#leftCopies()).filter(({ project }) => project.project_id === id);
      const autosave = await this.#autosaveOf(id);
      const works = [...(autosave ? [autosave.work] : []), ...copiesNotIn(autosave?.work ?? null, copies)];
      works.sort((a, b) => a.atMs - b.atMs);
      const newestWork = works.at(-1);
      if (!newestWork) return false;
      // The user has opened another song meanwhile.
      if (generation !== this.#song.generation) return false;
      const isSaved = this.#song.revision !== null && this.#song.project.project_id === id;
      if (!isSaved) this.#song.open((works[0] as FoundWork).project, null, false);
      // If several windows had unsaved work, undo leads from the newest to the older ones.
      for (const work of isSaved ? works : works.slice(1)) this.#song.restore('Restore unsaved work', work.project, isSaved ? work.baseRevision : null);
      if (autosave) this.#autosaves.adopt(autosave.owner, autosave.work.project, autosave.updatedAt);
      await this.#autosaves.keepLocally();
      await this.#removeCopies(copies);
      const restored = this.#song.generation;
      const ageText = formatAgo(newestWork.atMs, Date.now());
      this.#notices.show('info', `The unsaved changes to “${newestWork.project.name}” from ${ageText} were restored.`, [
        isSaved
          ? { label: 'Use the saved version', action: () => void this.#useSaved(id, restored) }
          : { label: 'Discard the changes', action: () => void this.#discardNew(restored) },
      ]);
      return true;
    } catch (error) {
      this.#notices.showFailure('Your unsaved changes cannot be restored', error);
      return false;
    }
  }

  /** Discards the unsaved work of closed windows on a song. */
  async discard(id: string): Promise<void> {
    try {
      await this.#removeCopies((await this.#leftCopies()).filter(({ project }) => project.project_id === id));
      const { client_id: clientId } = await readTempRevision(this.#api, id);
      if (clientId !== null && !(await isOpen(clientId))) await deleteTemp(this.#api, id, clientId);
    } catch (error) {
      this.#notices.showFailure('The unsaved changes cannot be discarded', error);
    }
  }

  async #autosaveOf(id: string): Promise<{ work: FoundWork; owner: AutosaveOwner; updatedAt: string } | null> {
    const { client_id: writer } = await readTempRevision(this.#api, id);
    if (writer === null || writer === this.#autosaves.windowId || (await isOpen(writer))) return null;
    const { project, updated_at: updatedAt, client_id: clientId } = await readTemp(this.#api, id);
    const work = { ...readAutosaveDocument(project), windowId: clientId, atMs: Date.parse(updatedAt) };
    return { work, owner: { projectId: id, clientId }, updatedAt };
  }

  /** Returns the copies in this browser that closed windows of this user left. */
  async #leftCopies(): Promise<LocalCopy[]> {
    const userId = this.#userId();
    let copies: LocalCopy[];
    try {
      copies = await this.#copies.all();
    } catch {
      // The browser refuses storage, so it has no copies.
      return [];
    }
    const left: LocalCopy[] = [];
    for (const copy of copies) {
      if (copy.userId === userId && copy.windowId !== this.#autosaves.windowId && !(await isOpen(copy.windowId))) left.push(copy);
    }
    return left;
  }

  async #removeCopies(copies: readonly LocalCopy[]): Promise<void> {
    for (const { windowId } of copies) await this.#copies.remove(windowId);
  }

  async #useSaved(id: string, generation: number): Promise<void> {
    // Another song may be open now.
    if (generation !== this.#song.generation) return;
    try {
      const { owned } = this.#autosaves;
      await this.#saving.load(id);
      if (owned) await this.#autosaves.drop(owned);
    } catch (error) {
      this.#notices.showFailure('The saved version cannot be loaded', error);
    }
  }

  async #discardNew(generation: number): Promise<void> {
    if (generation !== this.#song.generation) return;
    const { owned } = this.#autosaves;
    this.#song.open(emptyProject(), null, true);
    if (owned) await this.#autosaves.drop(owned);
  }
}
