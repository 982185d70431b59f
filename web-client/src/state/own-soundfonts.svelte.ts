/** SoundFonts that the visitor uploads and deletes. */
import type { App } from './app.svelte';
import { deleteSoundFont } from '../api/endpoints';
import type { SoundFontEntry } from '../api/types';
import { uploadSoundFont } from '../api/upload';
import { formatBytes } from '../project/format';
import type { Upload } from './audio-files.svelte';
import { pickFile, SOUNDFONT_ACCEPT } from './pick-file';

export class OwnSoundFonts {
  uploads = $state.raw<readonly Upload[]>([]);
  /** The one that the visitor is asked whether to delete. */
  doomed = $state.raw<SoundFontEntry | null>(null);
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  /** Lets the visitor choose a file, and uploads it. */
  async choose(): Promise<void> {
    const file = await pickFile(SOUNDFONT_ACCEPT);
    if (file) await this.upload(file);
  }

  async upload(file: File): Promise<void> {
    const { session, notices } = this.#app;
    const limit = session.capabilities?.limits.soundfont_max_bytes ?? Infinity;
    if (file.size > limit) {
      notices.show('error', `${file.name} has ${formatBytes(file.size)}; the service takes SoundFonts of at most ${formatBytes(limit)}.`);
      return;
    }
    const abort = new AbortController();
    const cancel = (): void => abort.abort();
    const show = (share: number): void => {
      const rest = this.uploads.filter((upload) => upload.cancel !== cancel);
      this.uploads = [...rest, { name: file.name, share, cancel }];
    };
    show(0);
    try {
      const answer = await uploadSoundFont(session.api, file, show, abort.signal);
      await this.#changed();
      notices.show('done', arrivalOf(answer));
    } catch (error) {
      if (!abort.signal.aborted) notices.failed('No SoundFont was added', error);
    } finally {
      this.uploads = this.uploads.filter((upload) => upload.cancel !== cancel);
    }
  }

  async delete(entry: SoundFontEntry): Promise<void> {
    this.doomed = null;
    const { session, notices } = this.#app;
    try {
      await deleteSoundFont(session.api, entry.soundfont_id);
      notices.show('done', `Deleted ${entry.name}.`);
    } catch (error) {
      notices.failed(`${entry.name} was not deleted`, error);
    }
    await this.#changed();
  }

  /** Lets the catalogue and the engine follow. */
  async #changed(): Promise<void> {
    await this.#app.catalog.load();
    this.#app.player.soundFontsChanged();
  }
}

type Arrival = Awaited<ReturnType<typeof uploadSoundFont>>;

/** What became of an upload, in a sentence or two. */
export function arrivalOf({ name, presets, uploaded, format }: Arrival): string {
  const sounds = `${presets.length} ${presets.length === 1 ? 'sound' : 'sounds'}`;
  const what = uploaded.already_there
    ? `${name} was there already.`
    : uploaded.replaced
      ? `${name} has taken the place of the one before it: ${sounds}.`
      : `${name} is yours to play: ${sounds}.`;
  const behind = uploaded.format === format ? '' : ' Your SF2 file of that name is played in its place.';
  const { count } = uploaded.skipped;
  const skipped = count === 0 ? '' : ` It is played without ${count} bad ${count === 1 ? 'region' : 'regions'} of its file.`;
  return what + behind + skipped;
}

/** What is played in place of an own SoundFont once it is deleted, in a sentence. */
export function successorOf(entry: SoundFontEntry): string {
  return entry.others.some((other) => other.source === 'system')
    ? 'Songs that name it play the system’s SoundFont of the same name from then on.'
    : 'Songs that name it play the default SoundFont from then on.';
}
