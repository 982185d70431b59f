/** Saves and autosaves the open song, and detects autosaves of other windows. */
import { ApiError, type Api } from '../../api/client';
import {
  createProject,
  deleteTemp,
  loadProject,
  readTemp,
  saveProject,
  readTempRevision,
  writeTemp,
  type TempSave,
} from '../../api/endpoints';
import { newId } from '../../project/ids';
import type { Project } from '../../project/model';
import { formatAgo } from '../../project/format';
import { emptyProject, normalizeProject } from '../../project/normalize';
import type { Notices } from '../notices.svelte';
import type { Song } from '../editing/song.svelte';
import { writeStored } from '../local-storage';

/** Whether the service has the current version of the open song. */
export type SaveState = 'new' | 'saved' | 'unsaved' | 'saving' | 'failed';

/** A version of this window that cannot be saved, because the service has a newer revision. */
export type Conflict = { unsavedProject: Project };

/** The body of a request that writes an autosave, and its JSON text. */
type AutosaveRequest = { save: TempSave; text: string };
/**
 * An autosave that this window wrote at `atMs`, in milliseconds since 1970. `atMs` is null for an
 * autosave that this window restored.
 */
type Autosave = { project: Project; generation: number; atMs: number | null };

/**
 * Maximum size of requests that continue after the page is closed. Browsers limit requests with
 * `keepalive` to 64 KiB, including headers.
 */
const KEEPALIVE_MAX_BYTES = 60_000;
/** Field of the project's `client` that contains the revision on which an autosave is based. */
const BASE_REVISION = 'base_revision';

export class Saving {
  conflict = $state.raw<Conflict | null>(null);
  #lastSave = $state.raw<'done' | 'failed'>('done');
  #saved = $state.raw<{ generation: number; atMs: number } | null>(null);
  #autosave = $state.raw<Autosave | null>(null);
  readonly #clientId = newId('window');
  readonly #api: Api;
  readonly #song: Song;
  readonly #notices: Notices;
  /** Time of the newest autosave, of any window, that this window knows. */
  #newestAutosaveAt: string | null = null;
  /** Whether the service has an autosave that this window wrote or restored. */
  #hasAutosave = false;
  #autosaving: Promise<void> = Promise.resolve();
  #saving = $state.raw<Promise<boolean> | null>(null);

  constructor(api: Api, song: Song, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#notices = notices;
  }

  /** Time when this window last saved the open song, in milliseconds since 1970; null if never. */
  get savedAtMs(): number | null {
    return this.#saved?.generation === this.#song.generation ? this.#saved.atMs : null;
  }

  /** Time when this window last autosaved the open song, in milliseconds since 1970; or null. */
  get autosavedAtMs(): number | null {
    return this.#autosave?.generation === this.#song.generation ? this.#autosave.atMs : null;
  }

  get state(): SaveState {
    if (this.#saving) return 'saving';
    if (!this.#song.isDirty) return this.#song.revision === null ? 'new' : 'saved';
    return this.#lastSave === 'failed' ? 'failed' : 'unsaved';
  }

  /** Saves the open song. Resolves to true if the service has saved it. */
  save(): Promise<boolean> {
    this.#saving ??= this.#save().finally(() => (this.#saving = null));
    return this.#saving;
  }

  /** Loads a saved song and opens it. */
  async load(id: string): Promise<void> {
    const { document, revision } = await loadProject(this.#api, id);
    this.#song.open(normalizeProject(document), revision, true);
    this.#lastSave = 'done';
    this.#remember();
  }

  /** Restores unsaved work of an earlier window. The user can undo this if the song was saved. */
  async restoreAutosave(): Promise<void> {
    try {
      if ((await readTempRevision(this.#api)).updated_at === null) return;
      this.#hasAutosave = true;
      const storedAutosave = await readTemp(this.#api);
      const { project, revision } = readAutosave(storedAutosave.project);
      this.#newestAutosaveAt = storedAutosave.updated_at;
      const hasBase = revision !== null && (await this.#openBase(project.project_id));
      if (hasBase) this.#song.restore(project, revision);
      else this.#song.open(project, null, false);
      this.#autosave = { project, generation: this.#song.generation, atMs: null };
      const ageText = formatAgo(Date.parse(storedAutosave.updated_at), Date.now());
      this.#notices.show('info', `The unsaved changes to “${project.name}” from ${ageText} were restored.`, [
        hasBase
          ? { label: 'Use the saved version', action: () => void this.#discardRestored() }
          : { label: 'Discard the changes', action: () => void this.#discardNew() },
      ]);
    } catch (error) {
      this.#notices.showFailure('Your unsaved changes cannot be restored', error);
    }
  }

  /** Writes unsaved work to the autosave. If all work is saved, removes the autosave. */
  async autosave(): Promise<void> {
    const project = this.#song.project;
    if (this.conflict) return;
    if (!this.#song.isDirty) {
      await this.dropAutosave();
      return;
    }
    if (project === this.#autosave?.project) return;
    await this.#writeAutosave(project, this.#autosaveRequest(project), false);
  }

  /** Autosaves a song that is too large for a request which continues after the page is closed. */
  async autosaveIfLarge(): Promise<void> {
    if (!this.#song.isDirty) return;
    if (byteLength(this.#autosaveRequest(this.#song.project).text) > KEEPALIVE_MAX_BYTES) await this.autosave();
  }

  /**
   * Writes unsaved work to the autosave because the page may be closed. Returns whether the request
   * is too large to continue after the page is closed.
   */
  flush(): boolean {
    const project = this.#song.project;
    if (!this.#song.isDirty || project === this.#autosave?.project || this.conflict) return false;
    const request = this.#autosaveRequest(project);
    const isSmall = byteLength(request.text) <= KEEPALIVE_MAX_BYTES;
    void this.#writeAutosave(project, request, isSmall);
    return !isSmall;
  }

  /** Shows a notice if another window has written an autosave since the last call. */
  async poll(): Promise<void> {
    if (document.hidden) return;
    let newest;
    try {
      newest = await readTempRevision(this.#api);
    } catch {
      // If the service does not answer, the next save reports the problem.
      return;
    }
    if (newest.updated_at === null || newest.client_id === this.#clientId || newest.updated_at === this.#newestAutosaveAt) return;
    this.#newestAutosaveAt = newest.updated_at;
    const actions = [
      { label: 'Open the other window’s version', action: () => void this.#openOtherWindow() },
      { label: 'Keep this version', action: () => undefined },
    ];
    this.#notices.show('info', 'You have unsaved changes to a song in another window.', actions, true);
  }

  /** Resolves a conflict by saving this window's version as a new song. */
  async saveOwnVersionAsCopy(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    const copy: Project = { ...conflict.unsavedProject, project_id: newId('song'), name: `${conflict.unsavedProject.name} (my copy)` };
    this.#song.open(copy, null, false);
    await this.save();
  }

  /** Resolves a conflict by opening the service's version; this window's version is lost. */
  async openSavedVersion(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    try {
      await this.load(conflict.unsavedProject.project_id);
      await this.dropAutosave();
    } catch (error) {
      this.#notices.showFailure(`The saved version of “${conflict.unsavedProject.name}” cannot be loaded`, error);
    }
  }

  /** Removes the autosave that this window wrote or restored, if any. */
  async dropAutosave(): Promise<void> {
    // An autosave that is still being written would arrive after the removal.
    await this.#autosaving;
    this.#autosave = null;
    if (!this.#hasAutosave) return;
    this.#hasAutosave = false;
    try {
      await deleteTemp(this.#api);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) {
        this.#notices.showFailure('The autosave cannot be removed', error);
      }
    }
  }

  async #save(): Promise<boolean> {
    const project = this.#song.project;
    const { revision, generation } = this.#song;
    try {
      const savedProject =
        revision === null
          ? await createProject(this.#api, project)
          : await saveProject(this.#api, project, revision);
      if (generation === this.#song.generation) {
        this.#song.markSaved(project, savedProject.revision);
        this.#saved = { generation, atMs: Date.now() };
        this.#remember();
      }
      this.#lastSave = 'done';
      await this.dropAutosave();
      return true;
    } catch (error) {
      this.#lastSave = 'failed';
      if (error instanceof ApiError && (error.status === 412 || error.status === 409)) {
        this.conflict = { unsavedProject: project };
      } else if (error instanceof ApiError && error.status === 404 && revision !== null) {
        this.#song.markDeleted();
        this.#notices.show('error', 'This song was deleted in another window or by another program. Save again to keep it as a new song.');
      } else {
        this.#notices.showFailure('The song was not saved', error);
      }
      return false;
    }
  }

  /** Stores the id of the song that the page opens when it is loaded again. */
  #remember(): void {
    writeStored('last-project', this.#song.revision === null ? null : this.#song.project.project_id);
  }

  /** Opens the saved song on which an autosave is based. Returns false if the song was deleted. */
  async #openBase(id: string): Promise<boolean> {
    if (this.#song.project.project_id === id && this.#song.revision !== null) return true;
    try {
      await this.load(id);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
  }

  async #discardRestored(): Promise<void> {
    try {
      await this.load(this.#song.project.project_id);
      await this.dropAutosave();
    } catch (error) {
      this.#notices.showFailure('The saved version cannot be loaded', error);
    }
  }

  async #discardNew(): Promise<void> {
    this.#song.open(emptyProject(), null, true);
    await this.dropAutosave();
  }

  #writeAutosave(project: Project, { save, text }: AutosaveRequest, keepalive: boolean): Promise<void> {
    const { generation } = this.#song;
    this.#autosaving = writeTemp(this.#api, save, text, keepalive).then(
      (writtenAutosave) => {
        this.#autosave = { project, generation, atMs: Date.now() };
        this.#newestAutosaveAt = writtenAutosave.updated_at;
        this.#hasAutosave = true;
      },
      (error: unknown) => this.#notices.showFailure('The autosave failed', error),
    );
    return this.#autosaving;
  }

  async #openOtherWindow(): Promise<void> {
    try {
      const { project, revision } = readAutosave((await readTemp(this.#api)).project);
      this.#song.open(project, revision, false);
    } catch (error) {
      this.#notices.showFailure('The other window’s version cannot be read', error);
    }
  }

  #autosaveRequest(project: Project): AutosaveRequest {
    const client = { ...project.client, [BASE_REVISION]: this.#song.revision };
    const save = { client_id: this.#clientId, project: { ...project, client } };
    return { save, text: JSON.stringify(save) };
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Returns the project of an autosave and the revision on which it is based. The revision is null if
 * the song was never saved.
 */
function readAutosave(document: unknown): { project: Project; revision: number | null } {
  const { client, ...project } = normalizeProject(document);
  const { [BASE_REVISION]: base, ...otherFields } = client ?? {};
  return {
    project: Object.keys(otherFields).length > 0 ? { ...project, client: otherFields } : project,
    revision: typeof base === 'number' ? base : null,
  };
}
