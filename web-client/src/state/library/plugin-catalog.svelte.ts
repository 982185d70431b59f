/** The VST instruments that the service found in its scans. */
import { reasonOf, type Api } from '../../api/client';
import { listInstruments } from '../../api/plugins';
import type { VstPlugin } from '../../api/types';
import type { PluginEngine } from '../../project/model';
import type { CatalogState } from './soundfont-catalog.svelte';

export class PluginCatalog {
  state = $state.raw<CatalogState>({ kind: 'loading' });
  instruments = $state.raw<readonly VstPlugin[]>([]);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    if (this.state.kind !== 'ready') this.state = { kind: 'loading' };
    try {
      this.instruments = (await listInstruments(this.#api)).vst_instruments;
      this.state = { kind: 'ready' };
    } catch (error) {
      this.state = { kind: 'failed', problem: reasonOf(error) };
    }
  }

  /** Whether the scans did not find the plugin of a track. False until the catalogue is loaded. */
  isMissing(engine: PluginEngine): boolean {
    return this.state.kind === 'ready' && !this.#pluginOf(engine);
  }

  /** Returns the name of a plugin; its id if the plugin is missing. */
  nameOf(engine: PluginEngine): string {
    return this.#pluginOf(engine)?.name ?? `Plugin ${engine.plugin_id}`;
  }

  #pluginOf({ type, plugin_id: id }: PluginEngine): VstPlugin | undefined {
    return this.instruments.find((plugin) => plugin.plugin_id === id && plugin.format === type);
  }
}

/** Returns the format as it is written in texts, such as `VST3`. */
export function pluginFormatName({ format }: Pick<VstPlugin, 'format'>): string {
  return format.toUpperCase();
}
