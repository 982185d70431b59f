/** The parameters of plugins, as the service lists them, and the plugins' texts of their values. */
import { reasonOf, type Api } from '../../api/client';
import { listPluginParameters, savePluginPreset } from '../../api/plugins';
import type { ParametersRequest, PluginParameterList } from '../../api/types';
import type { PluginEffect, PluginEngine } from '../../project/model';
import type { SavedState } from '../../project/plugin-state';

/**
 * A plugin with the state that it loads. Instruments and effects of a project have these fields.
 */
export type PluginWithState = { type: 'vst2' | 'vst3'; plugin_id: string; state?: string };

export type ParameterListState =
  | { kind: 'loading' }
  | { kind: 'ready'; list: PluginParameterList }
  | { kind: 'failed'; problem: string };

/** A normalized value of a parameter. */
export type ParameterValue = { id: number; value: number };

/** Maximum number of values whose texts are requested at once. */
const VALUES_MAX = 1000;
/** Maximum number of lists that are kept. A list has up to 20,000 texts. */
const LISTS_MAX = 24;

/** The list of a plugin with a state, and the texts of values that the list does not have. */
type Entry = { plugin: PluginWithState; state: ParameterListState; texts: ReadonlyMap<string, string> };

const keyOfValue = ({ id, value }: ParameterValue): string => `${id} ${value}`;

/** Whether two plugins are the same and load the same state, which may have megabytes. */
function areEqual(a: PluginWithState, b: PluginWithState): boolean {
  return a.type === b.type && a.plugin_id === b.plugin_id && a.state === b.state;
}

export class PluginParameters {
  /** The lists, the newest first. */
  #entries = $state.raw<readonly Entry[]>([]);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Returns the state of the list of a plugin; null before {@link load}. */
  stateOf(plugin: PluginWithState): ParameterListState | null {
    return this.#entryOf(plugin)?.state ?? null;
  }

  /** Returns the list of a plugin; null until it is loaded. */
  listOf(plugin: PluginWithState): PluginParameterList | null {
    const state = this.stateOf(plugin);
    return state?.kind === 'ready' ? state.list : null;
  }

  /** Returns the plugin's text of a value that was requested by {@link loadTexts}, or null. */
  textOf(plugin: PluginWithState, value: ParameterValue): string | null {
    return this.#entryOf(plugin)?.texts.get(keyOfValue(value)) ?? null;
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

  /**
   * Loads the plugin's texts of values that its list does not have. Without an answer, the page
   * shows interpolated texts.
   */
  async loadTexts(plugin: PluginWithState, wantedValues: readonly ParameterValue[]): Promise<void> {
    const values = wantedValues.filter((value) => this.textOf(plugin, value) === null).slice(0, VALUES_MAX);
    if (values.length === 0) return;
    const { value_texts: texts } = await listPluginParameters(this.#api, { ...requestOf(plugin), values });
    this.#entries = this.#entries.map((entry) => {
      if (!areEqual(entry.plugin, plugin)) return entry;
      const addedEntries = values.map((value, index) => [keyOfValue(value), texts[index] ?? ''] as const);
      return { ...entry, texts: new Map([...entry.texts, ...addedEntries]) };
    });
  }

  /**
   * Lets a new plugin load a preset: the index of one of its programs, or a preset file in base64.
   * Returns its state and its version. The list for this state is then known.
   *
   * @throws {Error} if the plugin refuses the preset.
   */
  async stateWithPreset({ type, plugin_id }: PluginWithState, preset: number | string): Promise<SavedState> {
    const list = await listPluginParameters(this.#api, { plugin_id, preset, with_state: true });
    if (list.state === null) throw new Error('the service answered without the state of the plugin');
    this.#setState({ type, plugin_id, state: list.state }, { kind: 'ready', list: { ...list, state: null } });
    return { state: list.state, version: list.version };
  }

  /** Returns a preset file with the settings of a plugin: its state and the values in the song. */
  presetFile({ params = {}, ...plugin }: PluginEngine | PluginEffect): Promise<Blob> {
    const values = Object.entries(params).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
    return savePluginPreset(this.#api, { ...requestOf(plugin), params: Object.fromEntries(values) });
  }

  /** Forgets all lists, because a scan may have found other versions of the plugins. */
  forget(): void {
    this.#entries = [];
  }

  #entryOf(plugin: PluginWithState): Entry | undefined {
    return this.#entries.find((entry) => areEqual(entry.plugin, plugin));
  }

  #setState({ type, plugin_id, state: pluginState }: PluginWithState, state: ParameterListState): void {
    const plugin = { type, plugin_id, ...(pluginState === undefined ? {} : { state: pluginState }) };
    const otherEntries = this.#entries.filter((entry) => !areEqual(entry.plugin, plugin));
    this.#entries = [{ plugin, state, texts: new Map<string, string>() }, ...otherEntries].slice(0, LISTS_MAX);
  }
}

function requestOf({ plugin_id, state }: PluginWithState): ParametersRequest {
  return state === undefined ? { plugin_id } : { plugin_id, state };
}
