/** Replaces the open song with another song. */
import type { Player } from '../../engine/player.svelte';
import { isEmptySong } from '../../project/merge';
import { emptyProject } from '../../project/normalize';
import { isStringOrNull, readStored } from '../local-storage';
import type { Notices } from '../notices.svelte';
import type { Song } from '../editing/song.svelte';
import type { Saving } from './saving.svelte';
import { DEMO_ID, type SongList } from './song-list.svelte';

export class SongSwitch {
  /** The open question about unsaved work, or null; `proceed` opens the other song. */
  question = $state.raw<{ proceed: () => void } | null>(null);
  readonly #song: Song;
  readonly #player: Player;
  readonly #saving: Saving;
  readonly #list: SongList;
  readonly #notices: Notices;

  constructor(song: Song, player: Player, saving: Saving, list: SongList, notices: Notices) {
    this.#song = song;
    this.#player = player;
    this.#saving = saving;
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

  openSong(id: string): Promise<void> {
    return this.replace(() => this.#saving.load(id));
  }

  /**
   * Opens a song when the page is loaded: the song of the last visit, or else the demo song, any
   * other song, or a new song.
   */
  async openFirst(): Promise<void> {
    const lastId = readStored<string | null>('last-project', null, isStringOrNull);
    const id = [lastId, DEMO_ID, this.#list.entries[0]?.project_id ?? null].find((candidate) => this.#list.has(candidate));
    try {
      if (id) await this.#saving.load(id);
      else this.#song.open(emptyProject(), null, true);
    } catch (error) {
      this.#song.open(emptyProject(), null, true);
      this.#notices.showFailure('The last song cannot be opened', error);
    }
    await this.#saving.restoreAutosave();
  }

  async #replace(open: () => Promise<void> | void): Promise<void> {
    this.#player.stop();
    try {
      await open();
      await this.#saving.dropAutosave();
      this.#player.seekTick(0);
    } catch (error) {
      this.#notices.showFailure('The song cannot be opened', error);
    }
  }
}
