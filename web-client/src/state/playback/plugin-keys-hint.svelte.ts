/** The hint that live keys do not play plugin tracks. The status line shows it once. */

/** Display time of the hint, in milliseconds. */
const SHOWN_MS = 12_000;

export class PluginKeysHint {
  shown = $state(false);
  #wasShown = false;

  /** Shows the hint, unless it was shown before. */
  show(): void {
    if (this.#wasShown) return;
    this.#wasShown = true;
    this.shown = true;
    setTimeout(() => this.dismiss(), SHOWN_MS);
  }

  dismiss(): void {
    this.shown = false;
  }
}
