/** Choices about how the page behaves, remembered in this browser. */
import type { InstrumentSound } from '../api/types';
import { readStored, writeStored } from './stored';

/** Who makes the sound of instrument tracks; `auto` leaves it to the service. */
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

  /** The grid that edits snap to, in ticks; 0 is off. */
  get snapTicks(): number {
    return this.#stored.snapTicks;
  }
  set snapTicks(value: number) {
    this.#stored.snapTicks = value;
    this.#remember();
  }

  #remember(): void {
    writeStored('preferences', $state.snapshot(this.#stored));
  }
}
