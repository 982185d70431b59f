/** Keys that are played live: on the screen, the computer keyboard or a MIDI keyboard. */
import type { SoundFontEngine } from '../project/model';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import type { Player } from './player.svelte';

/** Time that an auditioned sound stays loaded after its last key, for its tail, in milliseconds. */
const AUDITION_TAIL_MS = 4000;
/** Octave range of the computer keyboard. */
const MAX_OCTAVE = 8;

/** A track of the song, or a sound that is played on the audition track. */
export type LiveTarget = { trackId: string } | { sound: SoundFontEngine };

export class LiveKeys {
  /** MIDI keys that are down. */
  down = $state.raw<ReadonlySet<number>>(new Set());
  /** Velocity of keys that do not measure it, 0..1. */
  velocity = $state(0.8);
  /** Octave of the computer keyboard's A key; octave 4 begins at middle C. */
  #octave = $state(4);
  readonly #player: Player;
  readonly #target: () => LiveTarget | null;
  /** Held notes by MIDI key. */
  readonly #held = new Map<number, { trackId: string }>();
  #tailTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(player: Player, target: () => LiveTarget | null) {
    this.#player = player;
    this.#target = target;
  }

  /** The MIDI key of the computer keyboard's A key. */
  get lowestKey(): number {
    return (this.#octave + 1) * 12;
  }

  shiftOctave(octaves: number): void {
    this.#octave = Math.min(MAX_OCTAVE, Math.max(0, this.#octave + octaves));
  }

  /**
   * Starts a note on the target, once its sound is loaded and if the key is still held; `velocity`
   * is 0..1.
   */
  press(key: number, velocity = this.velocity): void {
    const target = this.#target();
    if (!target || key < 0 || key > 127) return;
    if ('sound' in target) void this.pressSound(target.sound, key, velocity);
    else void this.#hold(key, velocity, target.trackId, this.#player.soundReady(target.trackId));
  }

  /** Starts a note of a sound, on the audition track. */
  async pressSound(sound: SoundFontEngine, key: number, velocity = this.velocity): Promise<void> {
    await this.#hold(key, velocity, AUDITION_TRACK_ID, this.#player.audition(sound));
  }

  release(key: number): void {
    const note = this.#held.get(key);
    if (!note) return;
    const { trackId } = note;
    this.#player.noteOff(trackId, key);
    this.#held.delete(key);
    this.down = new Set(this.#held.keys());
    if (trackId !== AUDITION_TRACK_ID || this.#held.size > 0) return;
    clearTimeout(this.#tailTimer);
    this.#tailTimer = setTimeout(() => void this.#player.audition(null), AUDITION_TAIL_MS);
  }

  releaseAll(): void {
    for (const key of [...this.#held.keys()]) this.release(key);
    this.#player.allNotesOff();
  }

  /** Holds a key; its note starts when `ready` resolves, unless the key is released before. */
  async #hold(key: number, velocity: number, trackId: string, ready: Promise<void>): Promise<void> {
    if (this.#held.has(key)) this.release(key);
    const note = { trackId };
    this.#held.set(key, note);
    this.down = new Set(this.#held.keys());
    if (trackId === AUDITION_TRACK_ID) clearTimeout(this.#tailTimer);
    await ready;
    if (this.#held.get(key) === note) this.#player.noteOn(trackId, key, velocity);
  }
}
