/** Uploads and deletes SoundFonts of the user. */
import { deleteSoundFont } from '../../api/endpoints';
import type { SoundFontEntry } from '../../api/types';
import { uploadSoundFont } from '../../api/upload';
import type { Player } from '../../engine/player.svelte';
import { formatBytes } from '../../project/format';
import type { Session } from '../account/session.svelte';
import type { Notices } from '../notices.svelte';
import { pickFile, SOUNDFONT_ACCEPT } from '../pick-file';
import type { SoundFontCatalog } from './soundfont-catalog.svelte';
import { Uploads } from './uploads.svelte';

export class SoundFontUploads {
  readonly uploads = new Uploads();
  /** The SoundFont whose deletion the user must confirm; null if there is none. */
  pendingDeletion = $state.raw<SoundFontEntry | null>(null);
  readonly #session: Session;
  readonly #catalog: SoundFontCatalog;
  readonly #player: Player;
  readonly #notices: Notices;

  constructor(session: Session, catalog: SoundFontCatalog, player: Player, notices: Notices) {
    this.#session = session;
    this.#catalog = catalog;
    this.#player = player;
    this.#notices = notices;
  }

  /** Lets the user choose a file and uploads this file. */
  async choose(): Promise<void> {
    const file = await pickFile(SOUNDFONT_ACCEPT);
    if (file) await this.upload(file);
  }

  async upload(file: File): Promise<void> {
    const maxBytes = this.#session.capabilities?.limits.soundfont_max_bytes ?? Infinity;
    if (file.size > maxBytes) {
      const problem = `${file.name} is too large: it has ${formatBytes(file.size)}, and the service accepts at most ${formatBytes(maxBytes)}.`;
      this.#notices.show('error', problem);
      return;
    }
    try {
      const answer = await this.uploads.track(file, (onProgress, signal) =>
        uploadSoundFont(this.#session.api, file, onProgress, signal),
      );
      if (!answer) return;
      await this.#reload();
      this.#notices.show('done', uploadNotice(answer));
    } catch (error) {
      this.#notices.showFailure('No SoundFont was added', error);
    }
  }

  async delete(entry: SoundFontEntry): Promise<void> {
    this.pendingDeletion = null;
    try {
      await deleteSoundFont(this.#session.api, entry.soundfont_id);
      this.#notices.show('done', `Deleted ${entry.name}.`);
    } catch (error) {
      this.#notices.showFailure(`${entry.name} was not deleted`, error);
    }
    await this.#reload();
  }

  /** Reads the catalogue again, and makes the engine load the song's SoundFonts again. */
  async #reload(): Promise<void> {
    await this.#catalog.load();
    this.#player.reloadSoundFonts();
  }
}

type UploadAnswer = Awaited<ReturnType<typeof uploadSoundFont>>;

/** Returns the notice that describes the result of an upload. */
export function uploadNotice({ name, presets, uploaded, format }: UploadAnswer): string {
  const sounds = `${presets.length} ${presets.length === 1 ? 'sound' : 'sounds'}`;
  const result = uploaded.already_there
    ? `You already have ${name}.`
    : uploaded.replaced
      ? `${name} replaces your earlier file of the same name: ${sounds}.`
      : `${name} was added: ${sounds}.`;
  const shadowed = uploaded.format === format ? '' : ' Your SF2 file of the same name is used instead.';
  const { count } = uploaded.skipped;
  const skipped = count === 0 ? '' : ` ${name} is played without ${count} damaged ${count === 1 ? 'region' : 'regions'} of the file.`;
  return result + shadowed + skipped;
}

/** Returns a sentence that says which SoundFont replaces an uploaded one after its deletion. */
export function replacementNotice(entry: SoundFontEntry): string {
  return entry.others.some(({ source }) => source === 'system')
    ? 'Songs that use it will play the system’s SoundFont of the same name.'
    : 'Songs that use it will play the default SoundFont.';
}
