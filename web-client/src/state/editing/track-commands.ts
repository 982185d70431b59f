/** Commands of menus, buttons and keys that add, remove and change tracks. */
import { addTrack, duplicateTrack, moveTrack, removeTrack } from '../../project/edit-tracks';
import { setInstrument } from '../../project/instrument';
import type { SynthEngine, TrackKind } from '../../project/model';
import { addSend } from '../../project/routing';
import { updateTrack } from '../../project/update-track';
import { engineOf, keyOfChoice, nameOfChoice, type InstrumentChoice, type Instruments } from '../library/instruments';
import type { SoundFontCatalog } from '../library/soundfont-catalog.svelte';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';

export class TrackCommands {
  readonly #song: Song;
  readonly #soundFonts: SoundFontCatalog;
  readonly #instruments: Instruments;
  readonly #notices: Notices;

  constructor(song: Song, soundFonts: SoundFontCatalog, instruments: Instruments, notices: Notices) {
    this.#song = song;
    this.#soundFonts = soundFonts;
    this.#instruments = instruments;
    this.#notices = notices;
  }

  /** Adds an instrument track. If `engine` is null, the track has the default sound. */
  addInstrument(engine: SynthEngine | null, name?: string): void {
    const song = this.#song;
    const sound = engine ?? this.#soundFonts.defaultSound;
    const title = name ?? (sound ? this.#instruments.nameOf(sound) : `Track ${song.project.tracks.length + 1}`);
    const addedTrack = addTrack(song.project, title, sound);
    song.edit(`Add ${title}`, () => addedTrack.project);
    song.selection.selectTrack(addedTrack.trackId);
  }

  /** Adds a bus, a group or an audio track with the next unused name. */
  add(kind: Exclude<TrackKind, 'instrument'>): void {
    const song = this.#song;
    const name = this.#unusedName(kind);
    const addedTrack = addTrack(song.project, name, null, kind);
    song.edit(`Add ${name}`, () => addedTrack.project);
    song.selection.selectTrack(addedTrack.trackId);
  }

  /** Adds a send from a track to a bus. If `busId` is null, adds a new bus for the send. */
  addSend(trackId: string, busId: string | null): void {
    const song = this.#song;
    if (busId !== null) {
      song.edit('Add send', (project) => addSend(project, trackId, busId));
      return;
    }
    const addedTrack = addTrack(song.project, this.#unusedName('bus'), null, 'bus');
    song.edit('Add send to a new bus', () => addSend(addedTrack.project, trackId, addedTrack.trackId));
  }

  remove(id: string): void {
    const song = this.#song;
    const track = song.project.tracks.find((candidate) => candidate.id === id);
    if (track) song.edit(`Delete ${track.name}`, (project) => removeTrack(project, id));
  }

  /** Moves a track, by default the selected one, down by a number of tracks. */
  move(offset: number, id = this.#song.selection.trackId): void {
    const track = this.#song.project.tracks.find((candidate) => candidate.id === id);
    if (track) this.#song.edit(`Move ${track.name}`, (project) => moveTrack(project, track.id, offset));
  }

  duplicate(id: string): void {
    const song = this.#song;
    const copy = duplicateTrack(song.project, id);
    if (!copy) return;
    song.edit('Duplicate track', () => copy.project);
    song.selection.selectTrack(copy.trackId);
  }

  /**
   * Sets the instrument of a track, by default of the selected track. If this is not an instrument
   * track, adds a new track with the instrument. A track that has the plugin already keeps it with
   * its state.
   */
  assignInstrument(choice: InstrumentChoice, trackId = this.#song.selection.trackId): void {
    const song = this.#song;
    const engine = engineOf(choice);
    const name = nameOfChoice(choice);
    const track = song.project.tracks.find((candidate) => candidate.id === trackId);
    if (track?.kind !== 'instrument') {
      this.addInstrument(engine, name);
      return;
    }
    if (choice.kind === 'plugin' && this.#instruments.keyOf(track.synth_engine) === keyOfChoice(choice)) return;
    // A name that the user has not changed is that of the earlier sound.
    const isNamedAfterSound = track.name === this.#instruments.nameOf(track.synth_engine) || /^Track \d+$/.test(track.name);
    const namedSong = isNamedAfterSound ? updateTrack(song.project, track.id, (currentTrack) => ({ ...currentTrack, name })) : song.project;
    const change = setInstrument(namedSong, track.id, engine);
    if (!song.edit(`Choose ${name}`, () => change.project)) return;
    const trackName = isNamedAfterSound ? name : track.name;
    const laterChanges = change.laterProgramChangeCount;
    const removedLanes = change.removedLaneCount;
    if (change.removedControlCount === 0 && laterChanges === 0 && removedLanes === 0) return;
    const result =
      change.removedControlCount > 0
        ? `The program change at the start of ${trackName} was removed, because it would change the sound of ${name}.`
        : `${trackName} plays ${name}.`;
    const remaining =
      laterChanges > 0
        ? ` The track still has ${laterChanges} later program ${laterChanges === 1 ? 'change, which changes' : 'changes, which change'} the sound.`
        : '';
    const automation =
      removedLanes > 0 ? ` The automation of ${removedLanes} ${removedLanes === 1 ? 'parameter' : 'parameters'} of the earlier plugin was removed.` : '';
    this.#notices.show('info', `${result}${automation}${remaining} Undo restores the earlier sound.`);
  }

  /** Returns the next unused name for a track of a kind: `Bus 2` after `Bus 1`. */
  #unusedName(kind: Exclude<TrackKind, 'instrument'>): string {
    const title = { audio: 'Audio', bus: 'Bus', group: 'Group' }[kind];
    const usedNames = new Set(this.#song.project.tracks.map((track) => track.name));
    let trackNumber = 1;
    while (usedNames.has(`${title} ${trackNumber}`)) trackNumber += 1;
    return `${title} ${trackNumber}`;
  }
}
