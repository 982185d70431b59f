/** Preferences of the user, stored in this browser. */
import type { InstrumentSound } from '../../api/types';
import { TICKS_PER_QUARTER } from '../../project/model';
import type { PluginGrouping } from '../library/plugin-groups';
import { readStored, writeStored } from '../local-storage';

/** The renderer of instrument tracks: the server or the client. `auto` lets the service choose. */
export type SoundChoice = 'auto' | InstrumentSound;

type StoredPreferences = { sound: SoundChoice; follow: boolean; snapTicks: number; pluginGrouping?: PluginGrouping; lettersAreTools?: boolean };

function areStoredPreferences(value: unknown): value is StoredPreferences {
  const storedPreferences = value as Partial<StoredPreferences> | null;
  return (
    !!storedPreferences &&
    ['auto', 'server', 'client'].includes(storedPreferences.sound ?? '') &&
    typeof storedPreferences.follow === 'boolean' &&
    Number.isInteger(storedPreferences.snapTicks) &&
    [undefined, 'maker', 'kind'].includes(storedPreferences.pluginGrouping) &&
    [undefined, true, false].includes(storedPreferences.lettersAreTools)
  );
}

export class Preferences {
  #stored = $state<StoredPreferences>(readStored<StoredPreferences>('preferences', { sound: 'auto', follow: true, snapTicks: 240 }, areStoredPreferences));

  get sound(): SoundChoice {
    return this.#stored.sound;
  }
  set sound(value: SoundChoice) {
    this.#stored.sound = value;
    this.#remember();
  }

  /** Whether the view follows the playhead. */
  get followsPlayhead(): boolean {
    return this.#stored.follow;
  }
  set followsPlayhead(value: boolean) {
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

  /** How lists of plugins are grouped. */
  get pluginGrouping(): PluginGrouping {
    return this.#stored.pluginGrouping ?? 'maker';
  }
  set pluginGrouping(value: PluginGrouping) {
    this.#stored.pluginGrouping = value;
    this.#remember();
  }

  /** Whether letter keys choose tools of the piano roll; otherwise they play notes. */
  get lettersAreTools(): boolean {
    return this.#stored.lettersAreTools ?? false;
  }
  set lettersAreTools(value: boolean) {
    this.#stored.lettersAreTools = value;
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
