/**
 * Step input: each key that the user plays becomes a note at the cursor of the piano roll. Keys
 * that are held together become a chord. When the last key is released, the cursor moves on by a
 * grid step.
 */
import type { LiveKeys } from '../../engine/live-keys.svelte';
import type { NotePreview } from '../playback/note-preview';
import type { NoteCommands } from './note-commands.svelte';
import type { Song } from './song.svelte';

export class StepInput {
  isOn = $state(false);
  readonly #song: Song;
  readonly #notes: NoteCommands;
  readonly #liveKeys: LiveKeys;
  readonly #preview: NotePreview;
  /** The keys of the chord that is being played. */
  #chord: ReadonlySet<number> = new Set();
  /** Number of chords so far, for gesture ids: a chord is one undo step. */
  #chordCount = 0;

  constructor(song: Song, notes: NoteCommands, liveKeys: LiveKeys, preview: NotePreview) {
    this.#song = song;
    this.#notes = notes;
    this.#liveKeys = liveKeys;
    this.#preview = preview;
  }

  toggle(): void {
    this.isOn = !this.isOn;
    this.#chord = new Set();
  }

  /** Receives the MIDI keys that are pressed, whenever these change. */
  receive(downKeys: ReadonlySet<number>): void {
    if (!this.isOn) return;
    const heldKeys = [...downKeys].filter((key) => key !== this.#preview.soundingKey);
    const newKeys = heldKeys.filter((key) => !this.#chord.has(key));
    if (this.#chord.size === 0 && newKeys.length > 0) this.#chordCount += 1;
    if (newKeys.length > 0) {
      const playedKeys = newKeys.map((key) => ({ key, velocity: this.#liveKeys.velocityOf(key) }));
      if (this.#notes.enterAtCursor(playedKeys, `step input ${this.#chordCount}`)) this.#chord = new Set([...this.#chord, ...newKeys]);
    }
    if (heldKeys.length > 0 || this.#chord.size === 0) return;
    this.#chord = new Set();
    this.#song.endGesture();
    this.#notes.moveCursor(1, 0);
  }
}
