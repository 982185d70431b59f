/** Saving, autosaving, and noticing what other windows write. */
import { ApiError } from '../api/client';
import {
  createProject,
  deleteTemp,
  loadProject,
  readTemp,
  saveProject,
  tempRevision,
  writeTemp,
  type TempSave,
} from '../api/endpoints';
import type { Api } from '../api/client';
import { newId } from '../project/ids';
import type { Project } from '../project/model';
import { formatAgo } from '../project/format';
import { emptyProject, normaliseProject } from '../project/normalise';
import type { Notices } from './notices.svelte';
import type { Song } from './song.svelte';
import { writeStored } from './stored';

/** An autosave, and its JSON text, which is measured before it is sent. */
type Written = { save: TempSave; text: string };

export type SavePhase = 'idle' | 'saving' | 'failed';
export type SaveState = 'new' | 'saved' | 'unsaved' | 'saving' | 'failed';
/** Largest body that browsers send on after the page is gone: 64 KiB in all, some of it headers. */
const KEEPALIVE_MAX_BYTES = 60_000;
/** Where the revision that an autosave started from is kept in the project's `client`. */
const BASE_REVISION = 'base_revision';

/** What this window wanted to save when a newer revision was found. */
export type Conflict = { mine: Project };

export class Saving {
  phase = $state<SavePhase>('idle');
  problem = $state('');
  #saved = $state.raw<{ generation: number; atMs: number } | null>(null);
  #autosavedAt = $state.raw<{ generation: number; atMs: number } | null>(null);
  conflict = $state.raw<Conflict | null>(null);
  readonly #clientId = newId('window');
  readonly #api: Api;
  readonly #song: Song;
  readonly #notices: Notices;
  #autosaved: Project | null = null;
  #foreignSeen: string | null = null;
  /** Whether the service holds an autosave that this window wrote or restored. */
  #tempKept = false;
  #writing: Promise<void> = Promise.resolve();
  #running: Promise<boolean> | null = null;

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
    return this.#autosavedAt?.generation === this.#song.generation ? this.#autosavedAt.atMs : null;
  }

  /** What is to be said about the open song's being saved. */
  get state(): SaveState {
    if (this.phase === 'saving') return 'saving';
    if (!this.#song.dirty) return this.#song.revision === null ? 'new' : 'saved';
    return this.phase === 'failed' ? 'failed' : 'unsaved';
  }

  /** Saves the open song. Answers whether the service has it now. */
  save(): Promise<boolean> {
    this.#running ??= this.#save().finally(() => (this.#running = null));
    return this.#running;
  }

  /** Loads a saved song in place of the open one. */
  async load(id: string): Promise<void> {
    const { document, revision } = await loadProject(this.#api, id);
    this.#song.open(normaliseProject(document), revision, true);
    this.phase = 'idle';
    this.remember();
  }

  /** Remembers which song to open next time. */
  remember(): void {
    writeStored('last-project', this.#song.revision === null ? null : this.#song.project.project_id);
  }

  /** Brings back unsaved work that an earlier window left, as an edit that can be undone. */
  async restoreAutosave(): Promise<void> {
    try {
      if ((await tempRevision(this.#api)).updated_at === null) return;
      this.#tempKept = true;
      const temp = await readTemp(this.#api);
      const { project, revision } = fromTemp(temp.project);
      this.#foreignSeen = temp.updated_at;
      const based = revision !== null && (await this.#openBase(project.project_id));
      if (based) this.#song.restore(project, revision);
      else this.#song.open(project, null, false);
      this.#autosaved = project;
      const when = formatAgo(Date.parse(temp.updated_at), Date.now());
      this.#notices.show('info', `“${project.name}” was left unsaved ${when}; it is back as it was.`, [
        based
          ? { label: 'Use the saved version', run: () => void this.#discardRestored() }
          : { label: 'Discard it', run: () => void this.#discardNew() },
      ]);
    } catch (error) {
      this.#notices.failed('The autosave cannot be read', error);
    }
  }

  /** Writes the autosave when there is unsaved work that it lacks, and removes it when there is none. */
  async autosave(): Promise<void> {
    const project = this.#song.project;
    if (this.conflict) return;
    if (!this.#song.dirty) {
      await this.dropAutosave();
      return;
    }
    if (project === this.#autosaved) return;
    await this.#writeTemp(project, this.#tempSave(project), false);
  }

  /**
   * Autosaves a song that has come to rest after an edit, when it is too large
   * for {@link flush}: browsers let only small requests outlive the page.
   */
  async autosaveIfLarge(): Promise<void> {
    if (!this.#song.dirty) return;
    if (byteLength(this.#tempSave(this.#song.project).text) > KEEPALIVE_MAX_BYTES) await this.autosave();
  }

  /**
   * The page may be gone any moment: sends unsaved work off. Answers whether
   * work remains that could not be sent in a way that outlives the page.
   */
  flush(): boolean {
    const project = this.#song.project;
    if (!this.#song.dirty || project === this.#autosaved || this.conflict) return false;
    const temp = this.#tempSave(project);
    const small = byteLength(temp.text) <= KEEPALIVE_MAX_BYTES;
    void this.#writeTemp(project, temp, small);
    return !small;
  }

  /** Looks whether another window wrote the autosave since. */
  async poll(): Promise<void> {
    if (document.hidden) return;
    let seen;
    try {
      seen = await tempRevision(this.#api);
    } catch {
      // A service that is away for a moment shows with the next save.
      return;
    }
    if (seen.updated_at === null || seen.client_id === this.#clientId || seen.updated_at === this.#foreignSeen) return;
    this.#foreignSeen = seen.updated_at;
    const actions = [
      { label: 'Open its version', run: () => void this.#openForeign() },
      { label: 'Keep mine', run: () => undefined },
    ];
    this.#notices.show('info', 'Another window of yours changed a song that is not saved yet.', actions, true);
  }

  /** Conflict: what this window has becomes a song of its own. */
  async keepMineAsCopy(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    const copy: Project = { ...conflict.mine, project_id: newId('song'), name: `${conflict.mine.name} (my copy)` };
    this.#song.open(copy, null, false);
    await this.save();
  }

  /** Conflict: the version on the service replaces what this window has. */
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

  /** Removes the autosave, if this window wrote or restored one: it holds nothing that is still wanted. */
  async dropAutosave(): Promise<void> {
    // A write that is still on its way would come after the removal.
    await this.#writing;
    this.#autosaved = null;
    this.#autosavedAt = null;
    if (!this.#tempKept) return;
    this.#tempKept = false;
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
    this.phase = 'saving';
    try {
      const saved =
        revision === null
          ? await createProject(this.#api, project)
          : await saveProject(this.#api, project, revision);
      if (generation === this.#song.generation) {
        this.#song.markSaved(project, saved.revision);
        this.#saved = { generation, atMs: Date.now() };
        this.remember();
      }
      this.phase = 'idle';
      await this.dropAutosave();
      return true;
    } catch (error) {
      this.phase = 'failed';
      this.problem = error instanceof Error ? error.message : String(error);
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

  /** Opens the saved song that an autosave goes back to; false when it is gone. */
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

  #writeTemp(project: Project, { save, text }: Written, keepalive: boolean): Promise<void> {
    const { generation } = this.#song;
    const write = writeTemp(this.#api, save, text, keepalive).then(
      (written) => {
        this.#autosaved = project;
        this.#autosavedAt = { generation, atMs: Date.now() };
        this.#foreignSeen = written.updated_at;
        this.#tempKept = true;
      },
      (error: unknown) => this.#notices.failed('The autosave failed', error),
    );
    this.#writing = write;
    return write;
  }

  async #openForeign(): Promise<void> {
    try {
      const { project, revision } = fromTemp((await readTemp(this.#api)).project);
      this.#song.open(project, revision, false);
    } catch (error) {
      this.#notices.failed('The other window’s version cannot be read', error);
    }
  }

  #tempSave(project: Project): Written {
    const client = { ...project.client, [BASE_REVISION]: this.#song.revision };
    const save = { client_id: this.#clientId, project: { ...project, client } };
    return { save, text: JSON.stringify(save) };
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Takes an autosave apart: the project, and the revision it started from. */
export function fromTemp(document: unknown): { project: Project; revision: number | null } {
  const { client, ...project } = normaliseProject(document);
  const { [BASE_REVISION]: base, ...rest } = client ?? {};
  return {
    project: Object.keys(rest).length > 0 ? { ...project, client: rest } : project,
    revision: typeof base === 'number' ? base : null,
  };
}
