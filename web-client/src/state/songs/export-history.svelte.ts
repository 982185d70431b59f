/** The earlier exports of a song, which the service keeps. */
import { reasonOf, type Api } from '../../api/client';
import { deleteRender, listRenders } from '../../api/endpoints';
import type { RenderEntry } from '../../api/types';

export class ExportHistory {
  /** The exports of the song, the newest first. */
  entries = $state.raw<RenderEntry[]>([]);
  /** The reason why the last operation failed; null if it succeeded. */
  problem = $state<string | null>(null);
  /** Id of the song. */
  #projectId: string | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Reads the exports of a song. */
  async load(projectId: string): Promise<void> {
    if (this.#projectId !== projectId) this.entries = [];
    this.#projectId = projectId;
    await this.#attempt(async () => {
      const entries = await listRenders(this.#api, projectId);
      if (this.#projectId === projectId) this.entries = entries;
    });
  }

  /** Deletes an export and its file. */
  async remove(renderId: string): Promise<void> {
    await this.#attempt(async () => {
      await deleteRender(this.#api, renderId);
      this.entries = this.entries.filter((entry) => entry.render_id !== renderId);
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.problem = null;
    try {
      await work();
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }
}
