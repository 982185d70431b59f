/** Commands that edit the plugin instrument of a track. */
import type { PluginParameter } from '../../api/types';
import { inSentence } from '../../project/effect-kinds';
import type { PluginEngine } from '../../project/model';
import { pluginOf, removeInstrumentParameters, setInstrumentParameter, setInstrumentState } from '../../project/plugin-instrument';
import { parameterName } from '../../project/plugin-parameter-format';
import type { PluginCatalog } from '../library/plugin-catalog.svelte';
import type { PluginParameters } from '../library/plugin-parameters.svelte';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';

export class PluginCommands {
  /** Id of the track whose plugin is loading a preset; null if none is. */
  loadingTrackId = $state<string | null>(null);
  readonly #song: Song;
  readonly #plugins: PluginCatalog;
  readonly #parameters: PluginParameters;
  readonly #notices: Notices;

  constructor(song: Song, plugins: PluginCatalog, parameters: PluginParameters, notices: Notices) {
    this.#song = song;
    this.#plugins = plugins;
    this.#parameters = parameters;
    this.#notices = notices;
  }

  setParameter(trackId: string, parameter: PluginParameter, value: number, gesture: string | null): void {
    const engine = this.#engineOf(trackId);
    if (!engine) return;
    this.#song.edit(
      `Change ${this.#plugins.nameOf(engine)} ${inSentence({ name: parameterName(parameter) })}`,
      (project) => setInstrumentParameter(project, trackId, parameter.id, value),
      gesture === null ? null : `${trackId} ${gesture}`,
    );
  }

  /** Removes values, so that those of the loaded program or preset apply. */
  removeParameters(trackId: string, ids: readonly string[], label: string): void {
    this.#song.edit(label, (project) => removeInstrumentParameters(project, trackId, ids));
  }

  /** Resets a track's plugin to the settings with which it starts. */
  reset(trackId: string): void {
    const engine = this.#engineOf(trackId);
    if (engine) this.#song.edit(`Reset ${this.#plugins.nameOf(engine)}`, (project) => setInstrumentState(project, trackId, null));
  }

  /** Loads one of the plugin's programs. */
  loadProgram(trackId: string, index: number, name: string): Promise<void> {
    return this.#load(trackId, async () => index, `program \u201c${name}\u201d`);
  }

  /** Loads a `.vstpreset`, `.fxp` or `.fxb` file. */
  loadPresetFile(trackId: string, file: File): Promise<void> {
    return this.#load(trackId, () => base64Of(file), `preset \u201c${file.name}\u201d`);
  }

  /** Lets the plugin load a preset, and stores its state. `what` names the preset in texts. */
  async #load(trackId: string, preset: () => Promise<number | string>, what: string): Promise<void> {
    const engine = this.#engineOf(trackId);
    if (!engine || this.loadingTrackId !== null) return;
    const { generation } = this.#song;
    this.loadingTrackId = trackId;
    try {
      const state = await this.#parameters.stateWithPreset(engine, await preset());
      // The user may have chosen another instrument or song in the meantime.
      const current = this.#engineOf(trackId);
      if (generation !== this.#song.generation || current?.plugin_id !== engine.plugin_id || current.type !== engine.type) return;
      this.#song.edit(`Load ${what}`, (project) => setInstrumentState(project, trackId, state));
    } catch (error) {
      this.#notices.showFailure(`The ${what} cannot be loaded`, error);
    } finally {
      this.loadingTrackId = null;
    }
  }

  #engineOf(trackId: string): PluginEngine | null {
    return pluginOf(this.#song.project.tracks.find((track) => track.id === trackId) ?? null);
  }
}

/** Returns the content of a file in base64. */
async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
