/** The parameters of plugins, as the service lists them, and the plugins' texts of their values. */
import { reasonOf, type Api } from '../../api/client';
import { listPluginParameters } from '../../api/plugins';
import type { ParametersRequest, PluginParameterList } from '../../api/types';

/** A plugin with the state that it loads. Instruments and effects of a project have these fields. */
export type PluginWithState = { type: 'vst2' | 'vst3'; plugin_id: string; state?: string };

export type ParameterListState =
  | { kind: 'loading' }
  | { kind: 'ready'; list: PluginParameterList }
  | { kind: 'failed'; problem: string };

/** A normalized value of a parameter. */
export type ParameterValue = { id: number; value: number };

/** Maximum number of values whose texts are requested at once. */
const VALUES_MAX = 1000;

const keyOf = ({ type, plugin_id: id, state = '' }: PluginWithState): string => `${type} ${id} ${state}`;
const keyOfValue = (plugin: PluginWithState, { id, value }: ParameterValue): string => `${id} ${value} ${keyOf(plugin)}`;

export class PluginParameters {
  #states = $state.raw<ReadonlyMap<string, ParameterListState>>(new Map());
  #texts = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Returns the state of the list of a plugin; null before {@link load}. */
  stateOf(plugin: PluginWithState): ParameterListState | null {
    return this.#states.get(keyOf(plugin)) ?? null;
  }

  /** Returns the list of a plugin; null until it is loaded. */
  listOf(plugin: PluginWithState): PluginParameterList | null {
    const state = this.stateOf(plugin);
    return state?.kind === 'ready' ? state.list : null;
  }

  /** Returns the plugin's text of a value that was requested by {@link loadTexts}, or null. */
  textOf(plugin: PluginWithState, value: ParameterValue): string | null {
    return this.#texts.get(keyOfValue(plugin, value)) ?? null;
  }

  /** Loads the list of a plugin, unless it is loaded or being loaded. */
  async load(plugin: PluginWithState): Promise<void> {
    const state = this.stateOf(plugin);
    if (state && state.kind !== 'failed') return;
    this.#setState(plugin, { kind: 'loading' });
    try {
      this.#setState(plugin, { kind: 'ready', list: await listPluginParameters(this.#api, requestOf(plugin)) });
    } catch (error) {
      this.#setState(plugin, { kind: 'failed', problem: reasonOf(error) });
    }
  }

  /** Loads the plugin's texts of values. Without an answer, the page shows interpolated texts. */
  async loadTexts(plugin: PluginWithState, wanted: readonly ParameterValue[]): Promise<void> {
    const values = wanted.filter((value) => this.textOf(plugin, value) === null).slice(0, VALUES_MAX);
    if (values.length === 0) return;
    const { value_texts: texts } = await listPluginParameters(this.#api, { ...requestOf(plugin), values });
    const known = new Map(this.#texts);
    values.forEach((value, index) => known.set(keyOfValue(plugin, value), texts[index] ?? ''));
    this.#texts = known;
  }

  /**
   * Lets a new plugin load a preset: the index of one of its programs, or a preset file in base64.
   * Returns its state. The list for this state is then known.
   *
   * @throws {Error} if the plugin refuses the preset.
   */
  async stateWithPreset({ type, plugin_id }: PluginWithState, preset: number | string): Promise<string> {
    const list = await listPluginParameters(this.#api, { plugin_id, preset, with_state: true });
    if (list.state === null) throw new Error('the service answered without the state of the plugin');
    this.#setState({ type, plugin_id, state: list.state }, { kind: 'ready', list: { ...list, state: null } });
    return list.state;
  }

  /** Forgets all lists, because a scan may have found other versions of the plugins. */
  forget(): void {
    this.#states = new Map();
    this.#texts = new Map();
  }

  #setState(plugin: PluginWithState, state: ParameterListState): void {
    this.#states = new Map(this.#states).set(keyOf(plugin), state);
  }
}

function requestOf({ plugin_id, state }: PluginWithState): ParametersRequest {
  return state === undefined ? { plugin_id } : { plugin_id, state };
}
