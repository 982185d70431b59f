/** The songs that are saved on the service, and the autosaves of songs. */
import type { Api } from '../../api/client';
import { listProjects, listTemps } from '../../api/endpoints';
import type { AutosaveEntry, ProjectEntry } from '../../api/types';
import type { Notices } from '../notices.svelte';

/** Id of the demo song, which the service creates on its first start. */
export const DEMO_ID = 'demo';

/** Channel on which the windows of this browser tell each other that the list has changed. */
const CHANNEL = 'songfoundry songs';

export class SongList {
  entries = $state.raw<readonly ProjectEntry[]>([]);
  /** The autosaves of all songs, newest first. */
  autosaves = $state.raw<readonly AutosaveEntry[]>([]);
  readonly hasDemo: boolean = $derived(this.has(DEMO_ID));
  /** Autosaves of songs that were never saved, which are not among `entries`. */
  readonly neverSaved: readonly AutosaveEntry[] = $derived(this.autosaves.filter(({ project_id }) => !this.has(project_id)));
  readonly #api: Api;
  readonly #notices: Notices;
  #channel: BroadcastChannel | null = null;

  constructor(api: Api, notices: Notices) {
    this.#api = api;
    this.#notices = notices;
  }

  has(id: string | null): boolean {
    return this.entries.some((entry) => entry.project_id === id);
  }

  /** Returns the autosave of a song, or null. */
  autosaveOf(id: string): AutosaveEntry | null {
    return this.autosaves.find((entry) => entry.project_id === id) ?? null;
  }

  async refresh(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#notices.showFailure('The list of songs cannot be read', error);
    }
  }

  /** Reads the list again after a change in this window, and tells the other windows. */
  async changed(): Promise<void> {
    this.#channel?.postMessage(null);
    await this.refresh();
  }

  /**
   * Keeps the list current: after changes in other windows of this browser, and when this window
   * gets the focus. Changes of other browsers appear at the interval. Returns a function that ends
   * this.
   */
  keepCurrent(intervalMs: number): () => void {
    const refresh = (): void => {
      // If the service does not answer, the next save reports the problem.
      if (!document.hidden) this.#read().catch(() => undefined);
    };
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.onmessage = () => void this.#read().catch(() => undefined);
    const timer = setInterval(refresh, intervalMs);
    window.addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      this.#channel?.close();
      this.#channel = null;
      clearInterval(timer);
      window.removeEventListener('focus', refresh);
      document.removeEventListener('visibilitychange', refresh);
    };
  }

  async #read(): Promise<void> {
    const [entries, autosaves] = await Promise.all([listProjects(this.#api), listTemps(this.#api)]);
    this.entries = entries;
    this.autosaves = autosaves;
  }
}
