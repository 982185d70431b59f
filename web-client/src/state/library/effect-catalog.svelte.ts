/** The effects that the service offers. */
import { reasonOf, type Api } from '../../api/client';
import { listEffects } from '../../api/endpoints';
import type { VstPlugin } from '../../api/types';
import { EFFECT_GROUPS, type EffectKind } from '../../project/effect-kinds';
import type { Effect } from '../../project/model';

export class EffectCatalog {
  kinds = $state.raw<readonly EffectKind[]>([]);
  /** The VST effects that the service's scans have found. */
  vstEffects = $state.raw<readonly VstPlugin[]>([]);
  /** The reason why the list of effects could not be read; empty if it was read. */
  problem = $state('');
  /** The kinds of effects, grouped under the headings of a menu. Empty groups are omitted. */
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
      const { effects, vst_effects: vstEffects } = await listEffects(this.#api);
      this.kinds = effects;
      this.vstEffects = vstEffects;
      this.problem = '';
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }

  /** Returns the kind of a built-in effect; null for plugins and for effects that are not known. */
  kindOf(effect: Effect): EffectKind | null {
    return effect.type === 'builtin' ? (this.kinds.find((kind) => kind.id === effect.name) ?? null) : null;
  }

  /**
   * Returns the plugin of an effect; null for built-in effects, and if the scans did not find it.
   */
  pluginOf(effect: Effect): VstPlugin | null {
    if (effect.type === 'builtin') return null;
    return this.vstEffects.find(({ plugin_id: id, format }) => id === effect.plugin_id && format === effect.type) ?? null;
  }

  /** Returns the name under which the page shows an effect. */
  nameOf(effect: Effect): string {
    const knownName = this.kindOf(effect)?.name ?? this.pluginOf(effect)?.name ?? effect.name;
    return knownName ?? (effect.type === 'builtin' ? 'Effect' : `Plugin ${effect.plugin_id}`);
  }
}
