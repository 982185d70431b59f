/** Plays notes live, from keys on the screen, the computer keyboard or a MIDI keyboard. */
import type { SoundFontEngine } from '../project/model';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import type { Player } from './player.svelte';

/** Time for the tail of an auditioned sound after its last key is released, in milliseconds. */
const AUDITION_TAIL_MS = 4000;
/** Duration of the note that auditions a sound, in milliseconds. */
const AUDITION_MS = 500;
/** Highest octave to which the computer keyboard can be shifted; the lowest is 0. */
const MAX_OCTAVE = 8;

/**
 * The target of live keys: a track of the song, or a sound for the audition track. A track with a
 * plugin makes no sound, because the page's engine cannot run plugins.
 */
export type LiveTarget = { trackId: string; isPlugin: boolean } | { sound: SoundFontEngine };

/**
 * An event that the user plays live on a track, with the time of the key or MIDI event
 * (`performance.now()`). `velocity` is 0 to 1, and a bend is -8192 to 8191.
 */
export type LiveEvent = { trackId: string; atMs: number } & (
  | { kind: 'press'; key: number; velocity: number }
  | { kind: 'release'; key: number }
  | { kind: 'controller'; controller: number; value: number }
  | { kind: 'bend'; value: number }
);

export class LiveKeys {
  /** Called with each event on a track of the song. */
  onEvent: ((event: LiveEvent) => void) | null = null;
  /** Numbers of the MIDI keys that are pressed. */
  down = $state.raw<ReadonlySet<number>>(new Set());
  /** Velocity, 0..1, of keys on the screen and the computer keyboard. */
  velocity = $state(0.8);
  /** Octave of the computer keyboard's A key; octave 4 begins at middle C. */
  #octave = $state(4);
  readonly #player: Player;
  readonly #target: () => LiveTarget | null;
  readonly #onPluginKey: () => void;
  /** The track and the velocity, 0..1, of each pressed key, by MIDI key. */
  readonly #heldNotes = new Map<number, { trackId: string; velocity: number }>();
  /** The note that auditions a sound of a list; null for none. The user holds no key for it. */
  #audition: { key: number } | null = null;
  #tailTimer: ReturnType<typeof setTimeout> | undefined;

  /** `onPluginKey` is called when a key is pressed whose target is a track with a plugin. */
  constructor(player: Player, target: () => LiveTarget | null, onPluginKey: () => void) {
    this.#player = player;
    this.#target = target;
    this.#onPluginKey = onPluginKey;
  }

  /** The MIDI key that the computer keyboard's A key plays. */
  get lowestKey(): number {
    return (this.#octave + 1) * 12;
  }

  shiftOctave(octaves: number): void {
    this.#octave = Math.min(MAX_OCTAVE, Math.max(0, this.#octave + octaves));
  }

  /**
   * Starts a note on the target as soon as the target's sound is loaded, unless the key is released
   * before that. Ignores keys outside 0..127. `velocity` is 0..1. `atMs` is the time of the event.
   */
  press(key: number, velocity = this.velocity, atMs = performance.now()): void {
    this.#start(key, velocity, atMs, true);
  }

  /** Starts a note that the user does not play, such as that of an edited note. */
  preview(key: number, velocity: number): void {
    this.#start(key, velocity, performance.now(), false);
  }

  #start(key: number, velocity: number, atMs: number, isPlayed: boolean): void {
    const target = this.#target();
    if (!target || key < 0 || key > 127) return;
    if ('sound' in target) {
      void this.pressSound(target.sound, key, velocity);
      return;
    }
    if (target.isPlugin) this.#onPluginKey();
    this.#endNote(key, atMs);
    if (isPlayed) this.onEvent?.({ kind: 'press', trackId: target.trackId, key, velocity, atMs });
    void this.#holdKey(key, velocity, target.trackId, this.#player.waitForSoundOf(target.trackId));
  }

  /**
   * Plays a short note of a sound. The user presses no key for it, so it neither ends a held key
   * with the same number nor reaches recordings and step input.
   */
  async audition(sound: SoundFontEngine, key: number): Promise<void> {
    this.#endAudition();
    clearTimeout(this.#tailTimer);
    const note = { key };
    this.#audition = note;
    await this.#player.audition(sound);
    if (this.#audition !== note) return;
    this.#player.noteOn(AUDITION_TRACK_ID, key, this.velocity);
    setTimeout(() => {
      if (this.#audition !== note) return;
      this.#endAudition();
      this.#endTail();
    }, AUDITION_MS);
  }

  #endAudition(): void {
    if (this.#audition) this.#player.noteOff(AUDITION_TRACK_ID, this.#audition.key);
    this.#audition = null;
  }

  /** Removes the audition track after its tail, unless a note of it is held. */
  #endTail(): void {
    const isHeld = [...this.#heldNotes.values()].some(({ trackId }) => trackId === AUDITION_TRACK_ID);
    if (isHeld || this.#audition) return;
    clearTimeout(this.#tailTimer);
    this.#tailTimer = setTimeout(() => void this.#player.audition(null), AUDITION_TAIL_MS);
  }

  /** Starts a note of a sound on the audition track. */
  async pressSound(sound: SoundFontEngine, key: number, velocity = this.velocity): Promise<void> {
    await this.#holdKey(key, velocity, AUDITION_TRACK_ID, this.#player.audition(sound));
  }

  /** Sets a controller of the target track live; `controller` and `value` are 0 to 127. */
  control(controller: number, value: number, atMs = performance.now()): void {
    const trackId = this.#targetTrackId();
    if (trackId === null) return;
    this.#player.setController(trackId, controller, value);
    this.onEvent?.({ kind: 'controller', trackId, controller, value, atMs });
  }

  /** Bends the pitch of the target track live, from -8192 to 8191. */
  bend(value: number, atMs = performance.now()): void {
    const trackId = this.#targetTrackId();
    if (trackId === null) return;
    this.#player.setPitchBend(trackId, value);
    this.onEvent?.({ kind: 'bend', trackId, value, atMs });
  }

  #targetTrackId(): string | null {
    const target = this.#target();
    return target && 'trackId' in target ? target.trackId : null;
  }

  release(key: number, atMs = performance.now()): void {
    this.#endNote(key, atMs);
  }

  #endNote(key: number, atMs: number): void {
    const note = this.#heldNotes.get(key);
    if (!note) return;
    const { trackId } = note;
    if (trackId !== AUDITION_TRACK_ID) this.onEvent?.({ kind: 'release', trackId, key, atMs });
    this.#player.noteOff(trackId, key);
    this.#heldNotes.delete(key);
    this.down = new Set(this.#heldNotes.keys());
    if (trackId === AUDITION_TRACK_ID) this.#endTail();
  }

  /** Returns the velocity, 0..1, of a pressed key, or that of the keyboards for any other key. */
  velocityOf(key: number): number {
    return this.#heldNotes.get(key)?.velocity ?? this.velocity;
  }

  releaseAll(): void {
    for (const key of [...this.#heldNotes.keys()]) this.release(key);
    this.#audition = null;
    this.#player.allNotesOff();
  }

  /**
   * Marks a key as pressed, and starts its note if the key is still pressed when `ready` resolves.
   */
  async #holdKey(key: number, velocity: number, trackId: string, ready: Promise<void>): Promise<void> {
    if (this.#heldNotes.has(key)) this.release(key);
    const note = { trackId, velocity };
    this.#heldNotes.set(key, note);
    this.down = new Set(this.#heldNotes.keys());
    if (trackId === AUDITION_TRACK_ID) clearTimeout(this.#tailTimer);
    await ready;
    if (this.#heldNotes.get(key) === note) this.#player.noteOn(trackId, key, velocity);
  }
}
