/** Saves and loads the open song. */
import { ApiError, type Api } from '../../api/client';
import { createProject, loadProject, saveProject } from '../../api/endpoints';
import { newId } from '../../project/ids';
import type { Project } from '../../project/model';
import { normalizeProject } from '../../project/normalize';
import type { Notices } from '../notices.svelte';
import type { Song } from '../editing/song.svelte';
import { writeStored } from '../local-storage';
import type { Autosaves } from './autosaves.svelte';

/** Whether the service has the current version of the open song. */
export type SaveState = 'new' | 'saved' | 'unsaved' | 'saving' | 'failed';

/** A version of this window that cannot be saved, because the service has a newer revision. */
export type Conflict = { unsavedProject: Project };

export class Saving {
  conflict = $state.raw<Conflict | null>(null);
  #lastSave = $state.raw<'done' | 'failed'>('done');
  #saved = $state.raw<{ generation: number; atMs: number } | null>(null);
  readonly #api: Api;
  readonly #song: Song;
  readonly #autosaves: Autosaves;
  readonly #notices: Notices;
  readonly #onSaved: () => void;
  #saving = $state.raw<Promise<boolean> | null>(null);

  /** `onSaved` is called after each save. */
  constructor(api: Api, song: Song, autosaves: Autosaves, notices: Notices, onSaved: () => void) {
    this.#api = api;
    this.#song = song;
    this.#autosaves = autosaves;
    this.#notices = notices;
    this.#onSaved = onSaved;
  }

  /** Time when this window last saved the open song, in milliseconds since 1970; null if never. */
  get savedAtMs(): number | null {
    return this.#saved?.generation === this.#song.generation ? this.#saved.atMs : null;
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

  /** Autosaves unsaved work, unless the user must resolve a conflict first. */
  async autosave(): Promise<void> {
    if (!this.conflict) await this.#autosaves.write();
  }

  /** Resolves a conflict by saving this window's version as a new song. */
  async saveOwnVersionAsCopy(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    const { owned } = this.#autosaves;
    const copy: Project = { ...conflict.unsavedProject, project_id: newId('song'), name: `${conflict.unsavedProject.name} (my copy)` };
    this.#song.open(copy, null, false);
    if (await this.save()) await this.#autosaves.drop(owned);
  }

  /** Resolves a conflict by opening the service's version; this window's version is lost. */
  async openSavedVersion(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    const { owned } = this.#autosaves;
    try {
      await this.load(conflict.unsavedProject.project_id);
      await this.#autosaves.drop(owned);
    } catch (error) {
      this.#notices.showFailure(`The saved version of “${conflict.unsavedProject.name}” cannot be loaded`, error);
    }
  }

  async #save(): Promise<boolean> {
    const project = this.#song.project;
    const { revision, generation } = this.#song;
    const { owned } = this.#autosaves;
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
      this.#onSaved();
      await this.#autosaves.drop(owned);
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
}
