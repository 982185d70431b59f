/** Plays the notes that the user draws, moves or selects, so that edits are heard. */
import type { LiveKeys } from '../../engine/live-keys.svelte';

/** Duration of a note that is played without a pointer that holds it, in milliseconds. */
const BRIEF_MS = 300;

export class NotePreview {
  readonly #liveKeys: LiveKeys;
  #soundingKey: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(liveKeys: LiveKeys) {
    this.#liveKeys = liveKeys;
  }

  /** The MIDI key that sounds; null for none. The user does not hold this key. */
  get soundingKey(): number | null {
    return this.#soundingKey;
  }

  /** Plays a note until another one is played or `stop` is called. `velocity` is 0..1. */
  play(key: number, velocity: number): void {
    clearTimeout(this.#timer);
    if (this.#soundingKey === key) return;
    this.stop();
    this.#soundingKey = key;
    this.#liveKeys.preview(key, velocity);
  }

  /** Plays a short note. */
  playBriefly(key: number, velocity: number): void {
    this.stop();
    this.play(key, velocity);
    this.#timer = setTimeout(() => this.stop(), BRIEF_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#soundingKey !== null) this.#liveKeys.release(this.#soundingKey);
    this.#soundingKey = null;
  }
}
