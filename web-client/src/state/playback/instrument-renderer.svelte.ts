/** Decides whether the service or this browser renders the instrument tracks. */
import type { InstrumentSound } from '../../api/types';
import type { Session } from '../account/session.svelte';
import type { Preferences } from '../view/preferences.svelte';

export class InstrumentRenderer {
  readonly #session: Session;
  readonly #preferences: Preferences;
  /** The renderer in use. A service that cannot render is not used, whatever the preference. */
  readonly current: InstrumentSound = $derived.by(() => {
    const { capabilities } = this.#session;
    if (capabilities && !capabilities.soundfont_render) return 'client';
    const choice = this.#preferences.sound;
    return choice === 'auto' ? (capabilities?.instrument_sound ?? 'client') : choice;
  });

  constructor(session: Session, preferences: Preferences) {
    this.#session = session;
    this.#preferences = preferences;
  }
}
