/** Preferences of the user, stored in this browser. */
import type { InstrumentSound } from '../../api/types';
import { TICKS_PER_QUARTER } from '../../project/model';
import { readStored, writeStored } from '../local-storage';

/** The renderer of instrument tracks: the server or the client. `auto` lets the service choose. */
export type SoundChoice = 'auto' | InstrumentSound;

type Stored = { sound: SoundChoice; follow: boolean; snapTicks: number };

function isStored(value: unknown): value is Stored {
  const stored = value as Partial<Stored> | null;
  return (
    !!stored &&
    ['auto', 'server', 'client'].includes(stored.sound ?? '') &&
    typeof stored.follow === 'boolean' &&
    Number.isInteger(stored.snapTicks)
  );
}

export class Preferences {
  #stored = $state<Stored>(readStored<Stored>('preferences', { sound: 'auto', follow: true, snapTicks: 240 }, isStored));

  get sound(): SoundChoice {
    return this.#stored.sound;
  }
  set sound(value: SoundChoice) {
    this.#stored.sound = value;
    this.#remember();
  }

  /** Whether the view follows the playhead. */
  get follow(): boolean {
    return this.#stored.follow;
  }
  set follow(value: boolean) {
    this.#stored.follow = value;
    this.#remember();
  }

  /** Grid step to which edits snap, in ticks; 0 if snapping is off. */
  get snapTicks(): number {
    return this.#stored.snapTicks;
  }
  set snapTicks(value: number) {
    this.#stored.snapTicks = value;
    this.#remember();
  }

  /** Grid step, in ticks, of commands that always need one: a sixteenth if snapping is off. */
  get stepTicks(): number {
    return this.#stored.snapTicks || TICKS_PER_QUARTER / 4;
  }

  #remember(): void {
    writeStored('preferences', $state.snapshot(this.#stored));
  }
}
