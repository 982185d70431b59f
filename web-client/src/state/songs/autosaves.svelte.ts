/**
 * Keeps unsaved work of the open song: on the service as the autosave of the song, and in this
 * browser until the service has it. Detects autosaves of the same song that other windows wrote.
 */
import { ApiError, type Api } from '../../api/client';
import { deleteTemp, readTemp, readTempRevision, writeTemp, type TempSave } from '../../api/endpoints';
import { newId } from '../../project/ids';
import type { Project } from '../../project/model';
import type { Song } from '../editing/song.svelte';
import type { Notices } from '../notices.svelte';
import { autosaveDocument, readAutosaveDocument, type UnsavedWork } from './autosave-document';
import type { CopyStore } from './local-copies';

/** The body of a request that writes an autosave, and its JSON text. */
type AutosaveRequest = { save: TempSave; text: string };
/**
 * The work that the service has, of the open song. `atMs` is the time of writing in milliseconds
 * since 1970; null for an autosave that this window restored.
 */
type StoredWork = { project: Project; generation: number; atMs: number | null };
/** An autosave on the service: its song, and the window that wrote it. */
export type AutosaveOwner = { projectId: string; clientId: string };

/**
 * Maximum size of requests that continue after the page is closed. Browsers limit requests with
 * `keepalive` to 64 KiB, including headers.
 */
const KEEPALIVE_MAX_BYTES = 60_000;

export class Autosaves {
  /** Id of this window. */
  readonly windowId = newId('window');
  /** Whether the user should confirm that another window's version replaces the unsaved work. */
  asksAboutOtherVersion = $state(false);
  readonly #api: Api;
  readonly #song: Song;
  readonly #notices: Notices;
  readonly #copies: CopyStore;
  readonly #userId: () => string | null;
  #stored = $state.raw<StoredWork | null>(null);
  /** The autosave that this window wrote or restored; null if the service has none of it. */
  #owned: AutosaveOwner | null = null;
  /** The version in this browser; null if there is none. */
  #localProject: Project | null = null;
  /** Whether another window replaced this window's autosave on the service. */
  #isReplaced = false;
  #lastWriteFailed = false;
  /** Time of the newest autosave of the open song, of any window, that this window knows. */
  #newestAt: string | null = null;
  #writing: Promise<void> = Promise.resolve();
  #editNumber = 0;
  #numbered: Project | null = null;

  constructor(api: Api, song: Song, notices: Notices, copies: CopyStore, userId: () => string | null) {
    this.#api = api;
    this.#song = song;
    this.#notices = notices;
    this.#copies = copies;
    this.#userId = userId;
  }

  /** Time when this window last autosaved the open song, in milliseconds since 1970; or null. */
  get autosavedAtMs(): number | null {
    return this.#stored?.generation === this.#song.generation ? this.#stored.atMs : null;
  }

  /** The autosave that this window wrote or restored, or null. */
  get owned(): AutosaveOwner | null {
    return this.#owned;
  }

  /** Whether the open song has work that neither a save nor this window's autosave has. */
  get #isOnlyHere(): boolean {
    return this.#song.isDirty && (this.#song.project !== this.#stored?.project || this.#isReplaced);
  }

  /** Writes unsaved work to the service. If all work is saved, removes the autosave. */
  async write(): Promise<void> {
    const { project } = this.#song;
    if (!this.#song.isDirty) return this.drop(this.#owned);
    if (project === this.#stored?.project) return;
    await this.#write(project, this.#request(project), false);
  }

  /** Writes a song that is too large for a request which continues after the page is closed. */
  async writeIfLarge(): Promise<void> {
    if (!this.#song.isDirty) return;
    if (byteLength(this.#request(this.#song.project).text) > KEEPALIVE_MAX_BYTES) await this.write();
  }

  /**
   * Writes unsaved work because the page may be closed. Returns whether work may be lost: it is not
   * in this browser, and the request is too large to continue after the page is closed, or the last
   * request failed.
   */
  flush(): boolean {
    const { project } = this.#song;
    if (!this.#isOnlyHere) return false;
    const isSafe = this.#localProject === project;
    void this.keepLocally();
    if (project === this.#stored?.project) return !isSafe;
    const request = this.#request(project);
    const isSmall = byteLength(request.text) <= KEEPALIVE_MAX_BYTES;
    const mayFail = !isSmall || this.#lastWriteFailed;
    void this.#write(project, request, isSmall);
    return !isSafe && mayFail;
  }

  /** Keeps work that the service lacks in this browser, and removes the copy of other work. */
  async keepLocally(): Promise<void> {
    const { project, revision } = this.#song;
    const userId = this.#userId();
    try {
      if (!this.#isOnlyHere || userId === null) {
        if (this.#localProject === null) return;
        this.#localProject = null;
        await this.#copies.remove(this.windowId);
        return;
      }
      if (this.#localProject === project) return;
      const copy = { windowId: this.windowId, userId, project, baseRevision: revision, editNumber: this.#numberOf(project), atMs: Date.now() };
      await this.#copies.put(copy);
      // While the copy was written, a save may have made it unnecessary.
      this.#localProject = project;
      if (!this.#isOnlyHere) await this.keepLocally();
    } catch {
      // The browser refuses storage. The service still gets the work, and `flush` warns. An older
      // copy must not be restored instead of newer work.
      this.#localProject = null;
      await this.#copies.remove(this.windowId).catch(() => undefined);
    }
  }

  /** Records that the open song is the work of an autosave, which this window may remove later. */
  adopt(owner: AutosaveOwner, project: Project, updatedAt: string): void {
    this.#owned = owner;
    this.#stored = { project, generation: this.#song.generation, atMs: null };
    this.#newestAt = updatedAt;
    this.#isReplaced = false;
  }

  /** Shows a notice if another window has autosaved the open song since the last call. */
  async poll(): Promise<void> {
    if (document.hidden) return;
    const { project_id: id } = this.#song.project;
    let newestRevision;
    try {
      newestRevision = await readTempRevision(this.#api, id);
    } catch {
      // If the service does not answer, the next save reports the problem.
      return;
    }
    if (id !== this.#song.project.project_id || newestRevision.updated_at === null || newestRevision.updated_at === this.#newestAt) return;
    if (newestRevision.client_id === this.windowId || newestRevision.client_id === this.#owned?.clientId) return;
    this.#newestAt = newestRevision.updated_at;
    this.#isReplaced = this.#song.isDirty;
    void this.keepLocally();
    const actions = [
      { label: 'Open the other window’s version', action: () => this.#chooseOtherVersion() },
      { label: 'Keep this version', action: () => undefined },
    ];
    this.#notices.show('info', 'You have unsaved changes to this song in another window.', actions, true);
  }

  /** Replaces the open song with the version that another window autosaved, as one edit. */
  async openOtherVersion(): Promise<void> {
    this.asksAboutOtherVersion = false;
    const { project_id: id } = this.#song.project;
    try {
      const { project, baseRevision } = readAutosaveDocument((await readTemp(this.#api, id)).project);
      if (id !== this.#song.project.project_id) return;
      this.#song.restore('Open the other window’s version', project, baseRevision);
      // The other window keeps its autosave, and this window writes one after the next edit.
      this.#stored = { project, generation: this.#song.generation, atMs: null };
      this.#isReplaced = false;
    } catch (error) {
      this.#notices.showFailure('The other window’s version cannot be read', error);
    }
  }

  /** Removes an autosave, unless another window has replaced it, and the copy in this browser. */
  async drop(owner: AutosaveOwner | null): Promise<void> {
    // An autosave that is still being written would arrive after the removal.
    await this.#writing;
    const droppedOwner = owner ?? this.#owned;
    if (sameOwner(droppedOwner, this.#owned)) {
      this.#owned = null;
      this.#stored = null;
    }
    // Work that was edited since is kept, and other work is removed.
    await this.keepLocally();
    if (droppedOwner === null) return;
    try {
      await deleteTemp(this.#api, droppedOwner.projectId, droppedOwner.clientId);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) {
        this.#notices.showFailure('The autosave cannot be removed', error);
      }
    }
  }

  #chooseOtherVersion(): void {
    if (this.#song.isDirty) this.asksAboutOtherVersion = true;
    else void this.openOtherVersion();
  }

  #write(project: Project, { save, text }: AutosaveRequest, keepalive: boolean): Promise<void> {
    const { generation } = this.#song;
    this.#writing = writeTemp(this.#api, save, text, keepalive).then(
      (written) => {
        this.#lastWriteFailed = false;
        if (generation !== this.#song.generation) return;
        this.#stored = { project, generation, atMs: Date.now() };
        this.#owned = { projectId: project.project_id, clientId: this.windowId };
        this.#newestAt = written.updated_at;
        this.#isReplaced = false;
        void this.keepLocally();
      },
      (error: unknown) => {
        this.#lastWriteFailed = true;
        this.#notices.showFailure('The autosave failed; this browser keeps the unsaved work until the service takes it', error);
      },
    );
    return this.#writing;
  }

  #numberOf(project: Project): number {
    if (this.#numbered !== project) {
      this.#numbered = project;
      this.#editNumber += 1;
    }
    return this.#editNumber;
  }

  #request(project: Project): AutosaveRequest {
    const work: UnsavedWork = { project, baseRevision: this.#song.revision, editNumber: this.#numberOf(project) };
    const save = { client_id: this.windowId, project: autosaveDocument(work) };
    return { save, text: JSON.stringify(save) };
  }
}

function sameOwner(a: AutosaveOwner | null, b: AutosaveOwner | null): boolean {
  return a?.projectId === b?.projectId && a?.clientId === b?.clientId;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
