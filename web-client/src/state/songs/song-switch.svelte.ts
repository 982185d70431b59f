/** Replaces the open song with another song. */
import type { Player } from '../../engine/player.svelte';
import { isEmptySong } from '../../project/merge';
import { emptyProject } from '../../project/normalize';
import { formatAgo } from '../../project/format';
import { isStringOrNull, readStored, readTabStored } from '../local-storage';
import type { Notices } from '../notices.svelte';
import type { Song } from '../editing/song.svelte';
import type { Autosaves } from './autosaves.svelte';
import type { LeftSong, Restoring } from './restoring';
import type { Saving } from './saving.svelte';
import { DEMO_ID, type SongList } from './song-list.svelte';

/** Maximum number of songs with unsaved work that the page offers when it is loaded. */
const OFFERS_MAX = 2;

export class SongSwitch {
  /** The open question about unsaved work, or null; `proceed` opens the other song. */
  question = $state.raw<{ proceed: () => void } | null>(null);
  /** Id of the song that is being opened, or null. */
  #openingId: string | null = null;
  readonly #song: Song;
  readonly #player: Player;
  readonly #saving: Saving;
  readonly #autosaves: Autosaves;
  readonly #restoring: Restoring;
  readonly #list: SongList;
  readonly #notices: Notices;

  constructor(
    song: Song,
    player: Player,
    unsaved: { saving: Saving; autosaves: Autosaves; restoring: Restoring },
    list: SongList,
    notices: Notices,
  ) {
    this.#song = song;
    this.#player = player;
    this.#saving = unsaved.saving;
    this.#autosaves = unsaved.autosaves;
    this.#restoring = unsaved.restoring;
    this.#list = list;
    this.#notices = notices;
  }

  /** Calls `open`, which opens another song. If there is unsaved work, asks the user first. */
  async replace(open: () => Promise<void> | void): Promise<void> {
    if (this.#song.isDirty && !isEmptySong(this.#song.project)) {
      this.question = { proceed: () => void this.#replace(open) };
      return;
    }
    await this.#replace(open);
  }

  newSong(): Promise<void> {
    return this.replace(() => this.#song.open(emptyProject(), null, true));
  }

  /** Opens a saved song, or one that has only an autosave, with the unsaved work on it. */
  async openSong(id: string): Promise<void> {
    // The second click of a double click would discard the work that the first one restores.
    if (this.#openingId === id) return;
    await this.replace(async () => {
      this.#openingId = id;
      try {
        await (id === this.#song.project.project_id ? this.#reopen(id) : this.#open(id));
      } finally {
        if (this.#openingId === id) this.#openingId = null;
      }
    });
  }

  /**
   * Opens a song when the page is loaded: the song of the last visit, or else the one with the
   * newest unsaved work, the demo song, any other song, or a new song. Offers other unsaved work.
   */
  async openFirst(): Promise<void> {
    const leftSongs = await this.#restoring.leftSongs();
    const lastId = readTabStored('open-song', isStringOrNull) ?? readStored<string | null>('last-project', null, isStringOrNull);
    const isKnown = (id: string | null): boolean => this.#list.has(id) || leftSongs.some(({ projectId }) => projectId === id);
    const candidates = [lastId, leftSongs[0]?.projectId ?? null, DEMO_ID, this.#list.entries[0]?.project_id ?? null];
    const id = candidates.find(isKnown) ?? null;
    try {
      if (id === null) this.#song.open(emptyProject(), null, true);
      else await this.#open(id);
    } catch (error) {
      this.#song.open(emptyProject(), null, true);
      this.#notices.showFailure('The last song cannot be opened', error);
    }
    const offered = leftSongs.filter(({ projectId }) => projectId !== this.#song.project.project_id);
    for (const left of offered.slice(0, OFFERS_MAX)) this.#offer(left);
  }

  /** Discards the autosave of a song that is not open. */
  async discardUnsaved(id: string): Promise<void> {
    await this.#restoring.discard(id);
    await this.#list.changed();
  }

  async #open(id: string): Promise<void> {
    // A song that is not in the list was perhaps never saved, and has only unsaved work.
    if (!this.#list.has(id) && (await this.#restoring.restore(id))) return;
    await this.#saving.load(id);
    await this.#restoring.restore(id);
  }

  /** Opens the saved version of the open song. */
  async #reopen(id: string): Promise<void> {
    const { owned } = this.#autosaves;
    await this.#saving.load(id);
    if (owned) await this.#autosaves.drop(owned);
  }

  #offer({ projectId, name, atMs }: LeftSong): void {
    this.#notices.show('info', `“${name}” has unsaved changes from ${formatAgo(atMs, Date.now())}.`, [
      { label: 'Open it', action: () => void this.openSong(projectId) },
      { label: 'Discard them', action: () => void this.discardUnsaved(projectId) },
    ]);
  }

  async #replace(open: () => Promise<void> | void): Promise<void> {
    this.#player.stop();
    const { generation } = this.#song;
    const clientId = this.#autosaves.owned?.clientId ?? this.#autosaves.windowId;
    const left = { projectId: this.#song.project.project_id, clientId };
    try {
      await open();
      // The user has decided to leave the unsaved work of the song that was open.
      if (generation !== this.#song.generation && left.projectId !== this.#song.project.project_id) await this.#autosaves.drop(left);
      this.#player.seekTick(0);
    } catch (error) {
      this.#notices.showFailure('The song cannot be opened', error);
    }
  }
}
