/** Saving, autosaving, and detecting the autosaves of other windows. */
import { ApiError, type Api } from '../../api/client';
import {
  createProject,
  deleteTemp,
  loadProject,
  readTemp,
  saveProject,
  tempRevision,
  writeTemp,
  type TempSave,
} from '../../api/endpoints';
import { newId } from '../../project/ids';
import type { Project } from '../../project/model';
import { formatAgo } from '../../project/format';
import { emptyProject, normaliseProject } from '../../project/normalise';
import type { Notices } from '../notices.svelte';
import type { Song } from '../editing/song.svelte';
import { writeStored } from '../local-storage';

/** The state of the open song in comparison with the service. */
export type SaveState = 'new' | 'saved' | 'unsaved' | 'saving' | 'failed';

/** The version that this window could not save, since the service has a newer revision. */
export type Conflict = { mine: Project };

/** A request that writes an autosave, with its JSON text. */
type AutosaveRequest = { save: TempSave; text: string };
/**
 * An autosave of this window. `atMs` is in milliseconds since 1970; null for one that was restored.
 */
type Autosave = { project: Project; generation: number; atMs: number | null };

/** Limit on requests that outlive the page: browsers allow 64 KiB, headers included. */
const KEEPALIVE_MAX_BYTES = 60_000;
/** Field of the project's `client` that holds the revision on which an autosave is based. */
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
  /** Time of the newest autosave that this window knows of, from any window. */
  #newestSeen: string | null = null;
  /** Whether the service holds an autosave that this window wrote or restored. */
  #hasAutosave = false;
  #autosaving: Promise<void> = Promise.resolve();
  #saving = $state.raw<Promise<boolean> | null>(null);

  constructor(api: Api, song: Song, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#notices = notices;
  }

  /** When this window last saved the open song, milliseconds since 1970. */
  get savedAtMs(): number | null {
    return this.#saved?.generation === this.#song.generation ? this.#saved.atMs : null;
  }

  /** When this window last autosaved the open song, milliseconds since 1970. */
  get autosavedAtMs(): number | null {
    return this.#autosave?.generation === this.#song.generation ? this.#autosave.atMs : null;
  }

  get state(): SaveState {
    if (this.#saving) return 'saving';
    if (!this.#song.dirty) return this.#song.revision === null ? 'new' : 'saved';
    return this.#lastSave === 'failed' ? 'failed' : 'unsaved';
  }

  /** Saves the open song; resolves to whether the service has it. */
  save(): Promise<boolean> {
    this.#saving ??= this.#save().finally(() => (this.#saving = null));
    return this.#saving;
  }

  /** Loads a saved song, and opens it. */
  async load(id: string): Promise<void> {
    const { document, revision } = await loadProject(this.#api, id);
    this.#song.open(normaliseProject(document), revision, true);
    this.#lastSave = 'done';
    this.#remember();
  }

  /** Restores unsaved work of an earlier window, as an edit that can be undone. */
  async restoreAutosave(): Promise<void> {
    try {
      if ((await tempRevision(this.#api)).updated_at === null) return;
      this.#hasAutosave = true;
      const stored = await readTemp(this.#api);
      const { project, revision } = readAutosave(stored.project);
      this.#newestSeen = stored.updated_at;
      const hasBase = revision !== null && (await this.#openBase(project.project_id));
      if (hasBase) this.#song.restore(project, revision);
      else this.#song.open(project, null, false);
      this.#autosave = { project, generation: this.#song.generation, atMs: null };
      const when = formatAgo(Date.parse(stored.updated_at), Date.now());
      this.#notices.show('info', `The unsaved changes of “${project.name}” from ${when} were restored.`, [
        hasBase
          ? { label: 'Use the saved version', action: () => void this.#discardRestored() }
          : { label: 'Discard them', action: () => void this.#discardNew() },
      ]);
    } catch (error) {
      this.#notices.failed('The autosave cannot be read', error);
    }
  }

  /** Writes the autosave if it lacks unsaved work, and removes it if nothing is unsaved. */
  async autosave(): Promise<void> {
    const project = this.#song.project;
    if (this.conflict) return;
    if (!this.#song.dirty) {
      await this.dropAutosave();
      return;
    }
    if (project === this.#autosave?.project) return;
    await this.#writeAutosave(project, this.#autosaveRequest(project), false);
  }

  /** Autosaves a song that is too large for {@link flush}: only small requests outlive the page. */
  async autosaveIfLarge(): Promise<void> {
    if (!this.#song.dirty) return;
    if (byteLength(this.#autosaveRequest(this.#song.project).text) > KEEPALIVE_MAX_BYTES) await this.autosave();
  }

  /**
   * Sends unsaved work to the service, since the page may close. Returns whether the request is too
   * large to outlive the page.
   */
  flush(): boolean {
    const project = this.#song.project;
    if (!this.#song.dirty || project === this.#autosave?.project || this.conflict) return false;
    const request = this.#autosaveRequest(project);
    const isSmall = byteLength(request.text) <= KEEPALIVE_MAX_BYTES;
    void this.#writeAutosave(project, request, isSmall);
    return !isSmall;
  }

  /** Tells the visitor if another window wrote an autosave. */
  async poll(): Promise<void> {
    if (document.hidden) return;
    let seen;
    try {
      seen = await tempRevision(this.#api);
    } catch {
      // The next save reports a service that does not answer.
      return;
    }
    if (seen.updated_at === null || seen.client_id === this.#clientId || seen.updated_at === this.#newestSeen) return;
    this.#newestSeen = seen.updated_at;
    const actions = [
      { label: 'Open its version', action: () => void this.#openOtherWindow() },
      { label: 'Keep mine', action: () => undefined },
    ];
    this.#notices.show('info', 'Another window of yours changed a song that is not saved yet.', actions, true);
  }

  /** Resolves a conflict: saves this window's version as a new song. */
  async keepMineAsCopy(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    const copy: Project = { ...conflict.mine, project_id: newId('song'), name: `${conflict.mine.name} (my copy)` };
    this.#song.open(copy, null, false);
    await this.save();
  }

  /** Resolves a conflict: opens the service's version, and drops this window's. */
  async loadTheirs(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    try {
      await this.load(conflict.mine.project_id);
      await this.dropAutosave();
    } catch (error) {
      this.#notices.failed('The other version cannot be loaded', error);
    }
  }

  /** Removes the autosave that this window wrote or restored, if any. */
  async dropAutosave(): Promise<void> {
    // A write in progress would arrive after the removal.
    await this.#autosaving;
    this.#autosave = null;
    if (!this.#hasAutosave) return;
    this.#hasAutosave = false;
    try {
      await deleteTemp(this.#api);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) {
        this.#notices.failed('The autosave cannot be removed', error);
      }
    }
  }

  async #save(): Promise<boolean> {
    const project = this.#song.project;
    const { revision, generation } = this.#song;
    try {
      const saved =
        revision === null
          ? await createProject(this.#api, project)
          : await saveProject(this.#api, project, revision);
      if (generation === this.#song.generation) {
        this.#song.markSaved(project, saved.revision);
        this.#saved = { generation, atMs: Date.now() };
        this.#remember();
      }
      this.#lastSave = 'done';
      await this.dropAutosave();
      return true;
    } catch (error) {
      this.#lastSave = 'failed';
      if (error instanceof ApiError && (error.status === 412 || error.status === 409)) {
        this.conflict = { mine: project };
      } else if (error instanceof ApiError && error.status === 404 && revision !== null) {
        this.#song.markDeleted();
        this.#notices.show('error', 'This song was deleted elsewhere. Save again to keep it as a new one.');
      } else {
        this.#notices.failed('The song was not saved', error);
      }
      return false;
    }
  }

  /** Remembers which song to open next time. */
  #remember(): void {
    writeStored('last-project', this.#song.revision === null ? null : this.#song.project.project_id);
  }

  /** Opens the saved song on which an autosave is based; false if it was deleted. */
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
      this.#notices.failed('The saved version cannot be loaded', error);
    }
  }

  async #discardNew(): Promise<void> {
    this.#song.open(emptyProject(), null, true);
    await this.dropAutosave();
  }

  #writeAutosave(project: Project, { save, text }: AutosaveRequest, keepalive: boolean): Promise<void> {
    const { generation } = this.#song;
    this.#autosaving = writeTemp(this.#api, save, text, keepalive).then(
      (written) => {
        this.#autosave = { project, generation, atMs: Date.now() };
        this.#newestSeen = written.updated_at;
        this.#hasAutosave = true;
      },
      (error: unknown) => this.#notices.failed('The autosave failed', error),
    );
    return this.#autosaving;
  }

  async #openOtherWindow(): Promise<void> {
    try {
      const { project, revision } = readAutosave((await readTemp(this.#api)).project);
      this.#song.open(project, revision, false);
    } catch (error) {
      this.#notices.failed('The other window’s version cannot be read', error);
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
 * The project of an autosave, and the revision on which it is based; null for a song never saved.
 */
function readAutosave(document: unknown): { project: Project; revision: number | null } {
  const { client, ...project } = normaliseProject(document);
  const { [BASE_REVISION]: base, ...otherFields } = client ?? {};
  return {
    project: Object.keys(otherFields).length > 0 ? { ...project, client: otherFields } : project,
    revision: typeof base === 'number' ? base : null,
  };
}
