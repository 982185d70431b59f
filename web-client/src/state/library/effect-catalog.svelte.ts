/** The effects that the service offers. */
import { reasonOf, type Api } from '../../api/client';
import { listEffects } from '../../api/endpoints';
import { EFFECT_GROUPS, type EffectKind } from '../../project/effect-kinds';
import type { Effect } from '../../project/model';

export class EffectCatalog {
  kinds = $state.raw<readonly EffectKind[]>([]);
  /** Why the list could not be read; empty if it was read. */
  problem = $state('');
  /** The kinds by the headings of a menu, without empty groups. */
  readonly groups: readonly { name: string; kinds: EffectKind[] }[] = $derived(
    EFFECT_GROUPS.map(({ group, name }) => ({ name, kinds: this.kinds.filter((kind) => kind.group === group) })).filter(
      ({ kinds }) => kinds.length > 0,
    ),
  );
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    try {
      this.kinds = (await listEffects(this.#api)).effects;
      this.problem = '';
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }

  /** The kind of a built-in effect; null for plugins, and for kinds that this service lacks. */
  kindOf(effect: Effect): EffectKind | null {
    return effect.type === 'builtin' ? (this.kinds.find((kind) => kind.id === effect.name) ?? null) : null;
  }

  /** The display name of an effect. */
  nameOf(effect: Effect): string {
    return this.kindOf(effect)?.name ?? effect.name ?? (effect.type === 'builtin' ? 'Effect' : effect.plugin_id);
  }
}
