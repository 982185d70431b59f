/** What menus, buttons and keys let one do to the open song. */
import { exportMidi, importMidi } from '../api/endpoints';
import type { CatalogRow } from './catalog.svelte';
import type { App } from './app.svelte';
import { itemEndTick } from '../project/audio-time';
import { duplicateItem, findItem, itemId, moveItem, removeItem, setItemNotes } from '../project/edit-items';
import { duplicateNotes, moveNotes, quantiseNotes, removeNotes, type NotesEdit } from '../project/edit-notes';
import { addTrack, duplicateTrack, removeTrack } from '../project/edit-tracks';
import { setInstrument } from '../project/instrument';
import { addImported, isEmptySong, sameTempo } from '../project/merge';
import type { Note, SoundFontEngine, TrackKind } from '../project/model';
import { emptyProject, normaliseProject } from '../project/normalise';
import { addSend } from '../project/routing';
import { saveBlob } from './download';

export class Commands {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  // Playing

  togglePlay(): void {
    const { player } = this.#app;
    if (player.playing || player.waiting) player.stop();
    else void player.play();
  }

  /** Stops; when already stopped, goes back to the start. */
  stop(): void {
    const { player } = this.#app;
    if (player.playing || player.waiting) player.stop();
    else this.seek(0);
  }

  seek(tick: number): void {
    this.#app.player.seekTick(tick);
    this.#app.positionMoved();
  }

  seekEnd(): void {
    this.seek(this.#app.endTick);
  }

  // Songs

  /** Asks about unsaved work before another song takes its place. */
  async replaceSong(open: () => Promise<void> | void): Promise<void> {
    if (this.#app.song.dirty && !isEmptySong(this.#app.song.project)) {
      this.#app.leaving = { proceed: () => void this.#replace(open) };
      return;
    }
    await this.#replace(open);
  }

  newSong(): Promise<void> {
    return this.replaceSong(() => this.#app.song.open(emptyProject(), null, true));
  }

  openSong(id: string): Promise<void> {
    return this.replaceSong(() => this.#app.saving.load(id));
  }

  async #replace(open: () => Promise<void> | void): Promise<void> {
    const { player, notices, saving } = this.#app;
    player.stop();
    try {
      await open();
      await saving.dropAutosave();
      this.seek(0);
    } catch (error) {
      notices.failed('The song cannot be opened', error);
    }
  }

  // MIDI files

  /** Adds the tracks of a MIDI file to the song, or opens it as a song of its own. */
  async openMidiFile(file: File, asNewSong = false): Promise<void> {
    const { notices, song, session, catalog } = this.#app;
    const limit = session.capabilities?.limits.midi_max_bytes ?? Infinity;
    if (file.size > limit) {
      notices.show('error', `${file.name} is too large: ${file.size} bytes, and at most ${limit} are taken.`);
      return;
    }
    const name = file.name.replace(/\.(midi?|kar|rmi)$/i, '');
    this.#app.busy = `Reading ${file.name}`;
    try {
      const answer = await importMidi(session.api, file, name, catalog.defaultId);
      const imported = normaliseProject(answer.project);
      const notes = answer.warnings.length > 0 ? ` ${answer.warnings.join(' ')}` : '';
      const count = `${imported.tracks.length} ${imported.tracks.length === 1 ? 'track' : 'tracks'}`;
      const openAsNew = (): Promise<void> =>
        this.replaceSong(() => song.open({ ...imported, project_id: emptyProject().project_id }, null, false));
      if (asNewSong) {
        await openAsNew();
        notices.show('done', `Opened ${file.name}: ${count}.${notes}`);
        return;
      }
      const empty = isEmptySong(song.project);
      const tempo = empty || sameTempo(song.project, imported) ? '' : ' They play at this song’s tempo.';
      song.edit(`Import ${file.name}`, (project) => addImported(project, imported));
      if (empty) song.framing += 1;
      const first = song.project.tracks.at(-imported.tracks.length);
      song.selectItem(first?.id ?? '', first?.items[0]?.type === 'midi' ? first.items[0].id : null);
      notices.show('done', `Added ${count} from ${file.name}.${tempo}${notes}`, [
        ...(empty ? [] : [{ label: 'Open as a new song instead', run: () => (song.undo(), void openAsNew()) }]),
        { label: 'Undo', run: () => song.undo() },
      ]);
    } catch (error) {
      notices.failed(`${file.name} cannot be read as a MIDI file`, error);
    } finally {
      this.#app.busy = null;
    }
  }

  async saveMidiFile(): Promise<void> {
    const { notices, song, session } = this.#app;
    try {
      saveBlob(await exportMidi(session.api, song.project), `${song.project.name}.mid`);
    } catch (error) {
      notices.failed('The MIDI file could not be made', error);
    }
  }

  // Tracks

  addTrack(engine: SoundFontEngine | null, name?: string): void {
    const { song, catalog } = this.#app;
    const id = catalog.defaultId;
    const sound = engine ?? (id === null ? null : { type: 'soundfont' as const, soundfont_id: id, bank: 0, program: 0 });
    const title = name ?? (sound ? catalog.nameOf(sound) : `Track ${song.project.tracks.length + 1}`);
    let added = '';
    song.edit(`Add ${title}`, (project) => {
      const result = addTrack(project, title, sound);
      added = result.trackId;
      return result.project;
    });
    song.selectTrack(added);
  }

  /** Adds a bus, a group or an audio track, named after what is there already. */
  addTrackOf(kind: Exclude<TrackKind, 'instrument'>): void {
    const { song } = this.#app;
    const name = this.#freeName(kind);
    const result = addTrack(song.project, name, null, kind);
    song.edit(`Add ${name}`, () => result.project);
    song.selectTrack(result.trackId);
  }

  /** Sends a track to a bus; null makes one. */
  addSend(trackId: string, busId: string | null): void {
    const { song } = this.#app;
    if (busId !== null) {
      song.edit('Add send', (project) => addSend(project, trackId, busId));
      return;
    }
    const made = addTrack(song.project, this.#freeName('bus'), null, 'bus');
    song.edit('Add send to a new bus', () => addSend(made.project, trackId, made.trackId));
  }

  removeTrack(id: string): void {
    const { song } = this.#app;
    const track = song.project.tracks.find((candidate) => candidate.id === id);
    if (track) song.edit(`Delete ${track.name}`, (project) => removeTrack(project, id));
  }

  duplicateTrack(id: string): void {
    const { song } = this.#app;
    const result = duplicateTrack(song.project, id);
    if (!result) return;
    song.edit('Duplicate track', () => result.project);
    song.selectTrack(result.trackId);
  }

  /** Gives the selected track an instrument, or makes a track for it. */
  assign(row: CatalogRow, trackId = this.#app.song.selectedTrackId): void {
    const { song, notices } = this.#app;
    const engine: SoundFontEngine = {
      type: 'soundfont',
      soundfont_id: row.soundfont.soundfont_id,
      bank: row.bank,
      program: row.program,
    };
    const track = song.project.tracks.find((candidate) => candidate.id === trackId);
    if (track?.kind !== 'instrument') {
      this.addTrack(engine, row.name);
      return;
    }
    const change = setInstrument(song.project, track.id, engine);
    song.edit(`Choose ${row.name}`, () => change.project);
    const later = change.laterProgramChanges;
    if (change.removedControls === 0 && later === 0) return;
    const removed =
      change.removedControls > 0
        ? `${track.name} chose its own sound at the start; that choice was removed so that ${row.name} is heard.`
        : `${track.name} plays ${row.name}.`;
    const stays = later > 0 ? ` It still changes its sound ${later === 1 ? 'once' : `${later} times`} later on.` : '';
    notices.show('info', `${removed}${stays} Undo brings it back.`);
  }

  // The selection

  duplicate(): void {
    const { song, chain } = this.#app;
    if (song.focus === 'effects') return chain.duplicateSelected();
    if (song.focus === 'automation') return;
    if (this.#editNotes('Duplicate notes', (notes, selection) => duplicateNotes(notes, selection, this.#step()))) return;
    const found = findItem(song.project, song.selectedItemId);
    const result = found && duplicateItem(song.project, itemId(found.item), itemEndTick(this.#app.songTime, found.item));
    if (!result) return;
    song.edit('Duplicate clip', () => result.project);
    song.selectItem(song.selectedTrackId ?? '', result.itemId);
  }

  deleteSelection(): void {
    const { song, chain, automation } = this.#app;
    if (song.focus === 'effects') return chain.removeSelected();
    if (song.focus === 'automation') return automation.removeSelected();
    if (this.#editNotes('Delete notes', removeNotes)) return;
    if (song.focus !== 'tracks' || song.selectedItemId === null) return;
    const id = song.selectedItemId;
    song.edit('Delete clip', (project) => removeItem(project, id));
    song.selectedItemId = null;
  }

  /** Moves the selected notes, or the selected clip, by steps of the grid and by keys. */
  nudge(bySteps: number, byKeys: number): void {
    const { song, chain, automation } = this.#app;
    if (song.focus === 'effects') return chain.moveSelected(bySteps);
    if (song.focus === 'automation') return automation.nudgeSelected(bySteps, byKeys);
    const ticks = bySteps * this.#step();
    const label = bySteps !== 0 ? 'Move notes' : 'Transpose notes';
    if (this.#editNotes(label, (notes, selection) => moveNotes(notes, selection, ticks, byKeys))) return;
    const found = findItem(song.project, song.selectedItemId);
    if (!found || song.focus !== 'tracks' || bySteps === 0) return;
    const id = song.selectedItemId ?? '';
    song.edit('Move clip', (project) => moveItem(project, id, found.item.start_tick + ticks, found.track.id));
  }

  quantise(strength: number): void {
    const { song } = this.#app;
    const midi = song.selectedMidi;
    if (!midi) return;
    const { notes } = quantiseNotes(midi.item.notes, song.selectedNotes, midi.item.start_tick, this.#step(), strength);
    if (notes.every((note, index) => note === midi.item.notes[index])) return;
    song.edit('Quantise', (project) => setItemNotes(project, midi.item.id, notes));
  }

  selectAll(): void {
    const { song } = this.#app;
    if (!song.selectedMidi) return;
    song.focus = 'notes';
    song.selectedNotes = new Set(song.selectedMidi.item.notes.keys());
  }

  /** A name for another track of a kind: `Bus 2` after `Bus 1`. */
  #freeName(kind: Exclude<TrackKind, 'instrument'>): string {
    const title = { audio: 'Audio', bus: 'Bus', group: 'Group' }[kind];
    const taken = new Set(this.#app.song.project.tracks.map((track) => track.name));
    let number = 1;
    while (taken.has(`${title} ${number}`)) number += 1;
    return `${title} ${number}`;
  }

  #step(): number {
    return this.#app.preferences.snapTicks || 240;
  }

  /** Edits the selected notes; answers false when none are selected. */
  #editNotes(
    label: string,
    change: (notes: readonly Note[], selection: ReadonlySet<number>) => NotesEdit,
  ): boolean {
    const { song } = this.#app;
    const midi = song.selectedMidi;
    if (song.focus !== 'notes' || song.selectedNotes.size === 0 || !midi) return false;
    const { notes, selection } = change(midi.item.notes, song.selectedNotes);
    song.edit(label, (project) => setItemNotes(project, midi.item.id, notes));
    song.selectedNotes = selection;
    return true;
  }
}
