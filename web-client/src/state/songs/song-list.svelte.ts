/** The list of songs that are saved on the service. */
import type { Api } from '../../api/client';
import { listProjects } from '../../api/endpoints';
import type { ProjectEntry } from '../../api/types';
import type { Notices } from '../notices.svelte';

/** Id of the demo song, which the service creates on its first start. */
export const DEMO_ID = 'demo';

export class SongList {
  entries = $state.raw<readonly ProjectEntry[]>([]);
  readonly hasDemo: boolean = $derived(this.has(DEMO_ID));
  readonly #api: Api;
  readonly #notices: Notices;

  constructor(api: Api, notices: Notices) {
    this.#api = api;
    this.#notices = notices;
  }

  has(id: string | null): boolean {
    return this.entries.some((entry) => entry.project_id === id);
  }

  async refresh(): Promise<void> {
    try {
      this.entries = await listProjects(this.#api);
    } catch (error) {
      this.#notices.showFailure('The list of songs cannot be read', error);
    }
  }
}
