/** Imports MIDI files into the open song, and saves the song as a MIDI file. */
import type { Api } from '../../api/client';
import { exportMidi, importMidi } from '../../api/endpoints';
import { formatBytes } from '../../project/format';
import { addImported, isEmptySong, sameTempo } from '../../project/merge';
import type { Project } from '../../project/model';
import { emptyProject, normalizeProject } from '../../project/normalize';
import type { Session } from '../account/session.svelte';
import { saveBlob } from '../download';
import type { Song } from '../editing/song.svelte';
import type { SoundFontCatalog } from '../library/soundfont-catalog.svelte';
import type { Notices } from '../notices.svelte';
import type { SongSwitch } from './song-switch.svelte';

export class MidiFiles {
  /** Name of the file that is being imported; null if there is none. */
  importedFileName = $state<string | null>(null);
  readonly #api: Api;
  readonly #session: Session;
  readonly #song: Song;
  readonly #switching: SongSwitch;
  readonly #soundFonts: SoundFontCatalog;
  readonly #notices: Notices;

  constructor(session: Session, song: Song, switching: SongSwitch, soundFonts: SoundFontCatalog, notices: Notices) {
    this.#api = session.api;
    this.#session = session;
    this.#song = song;
    this.#switching = switching;
    this.#soundFonts = soundFonts;
    this.#notices = notices;
  }

  /** Adds the tracks of a MIDI file to the song, or opens it as a new song. */
  async open(file: File, asNewSong = false): Promise<void> {
    const maxBytes = this.#session.capabilities?.limits.midi_max_bytes ?? Infinity;
    if (file.size > maxBytes) {
      const problem = `${file.name} is too large: it has ${formatBytes(file.size)}, and the service accepts at most ${formatBytes(maxBytes)}.`;
      this.#notices.show('error', problem);
      return;
    }
    const name = file.name.replace(/\.(midi?|kar|rmi)$/i, '');
    this.importedFileName = file.name;
    try {
      const answer = await importMidi(this.#api, file, name, this.#soundFonts.defaultId);
      const importedSong = normalizeProject(answer.project);
      const warnings = answer.warnings.length > 0 ? ` ${answer.warnings.join(' ')}` : '';
      if (asNewSong) await this.#openAsNew(file, importedSong, warnings);
      else this.#addTracks(file, importedSong, warnings);
    } catch (error) {
      this.#notices.showFailure(`${file.name} cannot be read as a MIDI file`, error);
    } finally {
      this.importedFileName = null;
    }
  }

  /** Downloads the open song as a MIDI file. */
  async save(): Promise<void> {
    const { project } = this.#song;
    try {
      saveBlob(await exportMidi(this.#api, project), `${project.name}.mid`);
    } catch (error) {
      this.#notices.showFailure('The song cannot be saved as a MIDI file', error);
    }
  }

  async #openAsNew(file: File, importedSong: Project, warnings: string): Promise<void> {
    await this.#replaceSong(importedSong);
    this.#notices.show('done', `Opened ${file.name}: ${trackCount(importedSong)}.${warnings}`);
  }

  #replaceSong(importedSong: Project): Promise<void> {
    const project = { ...importedSong, project_id: emptyProject().project_id };
    return this.#switching.replace(() => this.#song.open(project, null, false));
  }

  #addTracks(file: File, importedSong: Project, warnings: string): void {
    const song = this.#song;
    const isEmpty = isEmptySong(song.project);
    const tempo = isEmpty || sameTempo(song.project, importedSong) ? '' : ' The new tracks play at the tempo of the open song.';
    song.edit(`Import ${file.name}`, (project) => addImported(project, importedSong));
    if (isEmpty) song.framing += 1;
    const firstTrack = song.project.tracks.at(-importedSong.tracks.length);
    song.selection.selectItem(firstTrack?.id ?? '', firstTrack?.items[0]?.type === 'midi' ? firstTrack.items[0].id : null);
    const openInstead = (): void => {
      song.undo();
      void this.#replaceSong(importedSong);
    };
    this.#notices.show('done', `Added ${trackCount(importedSong)} from ${file.name}.${tempo}${warnings}`, [
      ...(isEmpty ? [] : [{ label: 'Open as a new song instead', action: openInstead }]),
      { label: 'Undo', action: () => song.undo() },
    ]);
  }
}

function trackCount({ tracks }: Project): string {
  return `${tracks.length} ${tracks.length === 1 ? 'track' : 'tracks'}`;
}
