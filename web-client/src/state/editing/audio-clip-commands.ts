/** Commands of menus and dropped files that add audio clips. */
import type { AudioFile } from '../../api/types';
import type { Player } from '../../engine/player.svelte';
import { addItem, audioItem } from '../../project/edit-audio';
import { addTrack } from '../../project/edit-tracks';
import type { Project } from '../../project/model';
import type { AudioFiles } from '../library/audio-files.svelte';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';

/**
 * Where dropped files are added. If `trackId` is null or not an audio track, each file gets a new
 * track.
 */
export type DropTarget = { trackId: string | null; tick: number };

export class AudioClipCommands {
  readonly #song: Song;
  readonly #player: Player;
  readonly #audioFiles: AudioFiles;
  readonly #notices: Notices;

  constructor(song: Song, player: Player, audioFiles: AudioFiles, notices: Notices) {
    this.#song = song;
    this.#player = player;
    this.#audioFiles = audioFiles;
    this.#notices = notices;
  }

  /** Uploads files and adds a clip for each file at the target. */
  async addFiles(files: readonly File[], target: DropTarget): Promise<void> {
    for (const file of files) {
      try {
        const uploadedFile = await this.#audioFiles.upload(file);
        if (uploadedFile) this.#addClip(uploadedFile, file.name, target);
      } catch (error) {
        this.#notices.showFailure(`${file.name} cannot be used`, error);
      }
    }
  }

  /** Uploads files and adds a clip for each file on a new track, at the playhead. */
  addFilesAtPlayhead(files: readonly File[]): Promise<void> {
    return this.addFiles(files, { trackId: null, tick: Math.round(this.#player.positionTick()) });
  }

  #addClip(file: AudioFile, fileName: string, { trackId, tick }: DropTarget): void {
    const song = this.#song;
    const name = fileName.replace(/\.\w+$/, '');
    const item = audioItem(file.id, name, tick, file.frames);
    const addToProject = (project: Project): { project: Project; trackId: string } => {
      const track = project.tracks.find((candidate) => candidate.id === trackId && candidate.kind === 'audio');
      const target = track ? { project, trackId: track.id } : addTrack(project, name, null, 'audio');
      return { project: addItem(target.project, target.trackId, item), trackId: target.trackId };
    };
    const addedClips = addToProject(song.project);
    if (song.edit(`Add ${fileName}`, () => addedClips.project)) song.selection.selectItem(addedClips.trackId, item.id);
    if (file.warnings.length > 0) this.#notices.show('info', `${fileName}: ${file.warnings.join(' ')}`);
  }
}
