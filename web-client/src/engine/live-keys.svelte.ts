/** Keys played live, from the screen, the computer keyboard or a MIDI keyboard. */
import type { SoundFontEngine } from '../project/model';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import type { Player } from './player.svelte';

/** How long a tried sound stays loaded after its last key, for its tail. */
const AUDITION_REST_MS = 4000;

export type LiveTarget = { trackId: string } | { sound: SoundFontEngine };

export class LiveKeys {
  /** Keys that are down now. */
  down = $state.raw<ReadonlySet<number>>(new Set());
  /** Velocity of keys without one of their own, 0..1. */
  velocity = $state(0.8);
  readonly #player: Player;
  readonly #target: () => LiveTarget | null;
  readonly #held = new Map<number, string>();
  #restTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(player: Player, target: () => LiveTarget | null) {
    this.#player = player;
    this.#target = target;
  }

  /** A key goes down, heard on the selected track. `velocity` is 0..1. */
  press(key: number, velocity = this.velocity): void {
    const target = this.#target();
    if (!target || key < 0 || key > 127) return;
    if ('trackId' in target) this.#sound(target.trackId, key, velocity);
    else void this.pressSound(target.sound, key, velocity);
  }

  /** A key goes down, heard with a sound that no track need have. */
  async pressSound(sound: SoundFontEngine, key: number, velocity = this.velocity): Promise<void> {
    clearTimeout(this.#restTimer);
    this.#mark(key, AUDITION_TRACK_ID);
    await this.#player.audition(sound);
    if (this.#held.get(key) === AUDITION_TRACK_ID) this.#player.noteOn(AUDITION_TRACK_ID, key, velocity);
  }

  release(key: number): void {
    const trackId = this.#held.get(key);
    if (trackId === undefined) return;
    this.#player.noteOff(trackId, key);
    this.#held.delete(key);
    this.down = new Set(this.#held.keys());
    if (trackId !== AUDITION_TRACK_ID || this.#held.size > 0) return;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => void this.#player.audition(null), AUDITION_REST_MS);
  }

  releaseAll(): void {
    for (const key of [...this.#held.keys()]) this.release(key);
    this.#player.allNotesOff();
  }

  #sound(trackId: string, key: number, velocity: number): void {
    this.#mark(key, trackId);
    this.#player.noteOn(trackId, key, velocity);
  }

  #mark(key: number, trackId: string): void {
    if (this.#held.has(key)) this.release(key);
    this.#held.set(key, trackId);
    this.down = new Set(this.#held.keys());
  }
}
