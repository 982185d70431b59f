/** What drops, menus and keys let one do with audio. */
import type { App } from './app.svelte';
import type { AudioFile } from '../api/types';
import { addItem, audioItem, splitAudio } from '../project/edit-audio';
import { addTrack } from '../project/edit-tracks';
import type { Project } from '../project/model';

/** Where a file was dropped: on an audio track, or at a tick for a new one. */
export type DropPlace = { trackId: string | null; tick: number };

export class AudioCommands {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  /** Uploads files and puts each on a track: the one they were dropped on, else one of its own. */
  async addFiles(files: readonly File[], place: DropPlace): Promise<void> {
    const { audio, notices } = this.#app;
    for (const file of files) {
      try {
        const uploaded = await audio.upload(file);
        if (uploaded) this.#place(uploaded, file.name, place);
      } catch (error) {
        notices.failed(`${file.name} cannot be used`, error);
      }
    }
  }

  /** Cuts the selected clip where the playhead stands. */
  split(): void {
    const { song, player, notices, songTime } = this.#app;
    const result =
      song.selectedItemId === null
        ? null
        : splitAudio(song.project, songTime, song.selectedItemId, Math.round(player.positionTick()));
    if (!result) {
      notices.show('info', 'To split an audio clip, select it and put the playhead inside it; loops cannot be split.');
      return;
    }
    song.edit('Split clip', () => result.project);
    song.selectItem(song.selectedTrackId ?? '', result.itemId);
  }

  #place(file: AudioFile, fileName: string, { trackId, tick }: DropPlace): void {
    const { song, notices } = this.#app;
    const name = fileName.replace(/\.\w+$/, '');
    const item = audioItem(file.id, name, tick, file.frames);
    const add = (project: Project): { project: Project; trackId: string } => {
      const track = project.tracks.find((candidate) => candidate.id === trackId && candidate.kind === 'audio');
      const target = track ? { project, trackId: track.id } : addTrack(project, name, null, 'audio');
      return { project: addItem(target.project, target.trackId, item), trackId: target.trackId };
    };
    const added = add(song.project);
    song.edit(`Add ${fileName}`, () => added.project);
    song.selectItem(added.trackId, item.id);
    if (file.warnings.length > 0) notices.show('info', `${fileName}: ${file.warnings.join(' ')}`);
  }
}
