/**
 * Opens files that contain a song with its audio, and saves the open song as such a file. The files
 * are bundles, which only this program reads, and DAWproject files, which other programs read, too.
 */
import type { Api } from '../../api/client';
import { downloadSongFile, type SongFileFormat } from '../../api/endpoints';
import { uploadSong } from '../../api/upload';
import { saveBlob } from '../download';
import type { Song } from '../editing/song.svelte';
import { Uploads } from '../library/uploads.svelte';
import type { Notices } from '../notices.svelte';
import type { Saving } from './saving.svelte';
import type { SongList } from './song-list.svelte';
import type { SongSwitch } from './song-switch.svelte';

const EXTENSIONS: Record<SongFileFormat, string> = { bundle: '.songfoundry.zip', dawproject: '.dawproject' };

export class ProjectFiles {
  readonly uploads = new Uploads();
  /** Name of the file that the service is writing; null if there is none. */
  writtenFileName = $state<string | null>(null);
  readonly #api: Api;
  readonly #song: Song;
  readonly #saving: Saving;
  readonly #list: SongList;
  readonly #switching: SongSwitch;
  readonly #notices: Notices;

  constructor(api: Api, song: Song, saving: Saving, list: SongList, switching: SongSwitch, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#saving = saving;
    this.#list = list;
    this.#switching = switching;
    this.#notices = notices;
  }

  /** Uploads a file, which becomes a saved song, and opens that song. */
  async open(file: File): Promise<void> {
    const format = /\.dawproject$/i.test(file.name) ? 'dawproject' : 'bundle';
    try {
      const importedSong = await this.uploads.track(file, (onProgress, signal) =>
        uploadSong(this.#api, format, file, onProgress, signal),
      );
      if (!importedSong) return;
      await this.#list.refresh();
      await this.#switching.openSong(importedSong.project_id);
      const audio = importedSong.audio_added + importedSong.audio_known;
      const warnings = 'warnings' in importedSong ? importedSong.warnings.map((warning) => ` ${warning}`).join('') : '';
      const message = `Stored ${file.name} as a song with ${audio} audio ${audio === 1 ? 'file' : 'files'}.${warnings}`;
      this.#notices.show(warnings === '' ? 'done' : 'info', message, [], warnings !== '');
    } catch (error) {
      this.#notices.showFailure(`${file.name} cannot be opened`, error);
    }
  }

  /** Saves the open song, and downloads it with its audio. */
  async save(format: SongFileFormat): Promise<void> {
    const song = this.#song;
    if ((song.isDirty || song.revision === null) && !(await this.#saving.save())) return;
    const { project_id: id, name } = song.project;
    const fileName = `${name}${EXTENSIONS[format]}`;
    this.writtenFileName = fileName;
    try {
      saveBlob(await downloadSongFile(this.#api, id, format), fileName);
    } catch (error) {
      this.#notices.showFailure(`The song cannot be saved as ${fileName}`, error);
    } finally {
      this.writtenFileName = null;
    }
  }
}
