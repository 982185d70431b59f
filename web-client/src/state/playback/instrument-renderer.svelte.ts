/**
 * Decides whether the service or this browser renders the instrument tracks. A page from another
 * machine renders them itself unless the user chooses the service: rendered sound is large, and
 * both renderers make the same samples.
 */
import type { InstrumentSound } from '../../api/types';
import type { Session } from '../account/session.svelte';
import type { Preferences } from '../view/preferences.svelte';

/** Whether a page of this host is from the machine of the browser. */
export function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

export class InstrumentRenderer {
  readonly #session: Session;
  readonly #preferences: Preferences;
  /** The renderer of the preference `auto`. */
  readonly automatic: InstrumentSound = $derived.by(() => {
    const isLocal = isThisMachine(globalThis.location?.hostname ?? 'localhost');
    return (isLocal ? this.#session.capabilities?.instrument_sound : null) ?? 'client';
  });
  /** The renderer in use. A service that cannot render is not used, whatever the preference. */
  readonly current: InstrumentSound = $derived.by(() => {
    const { capabilities } = this.#session;
    if (capabilities && !capabilities.soundfont_render) return 'client';
    const choice = this.#preferences.sound;
    return choice === 'auto' ? this.automatic : choice;
  });

  constructor(session: Session, preferences: Preferences) {
    this.#session = session;
    this.#preferences = preferences;
  }
}
