/** Commands that edit plugins: the instruments of tracks, and the presets of effects. */
import type { PluginParameter } from '../../api/types';
import { inSentence } from '../../project/effect-kinds';
import { effectsOf, setEffectState, setEffectVersion } from '../../project/edit-effects';
import type { PluginEffect, PluginEngine, Project } from '../../project/model';
import { pluginOf, removeInstrumentParameters, setInstrumentParameter, setInstrumentState, setInstrumentVersion } from '../../project/plugin-instrument';
import { parameterName } from '../../project/plugin-parameter-format';
import type { PluginCatalog } from '../library/plugin-catalog.svelte';
import type { PluginParameters } from '../library/plugin-parameters.svelte';
import { saveBlob } from '../download';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';

/** A plugin of the song: the instrument of a track, or an effect of a track or the master. */
export type PluginOfSong = { channelId: string; effectId: string | null };

function instrumentOf(project: Project, trackId: string): PluginEngine | null {
  return pluginOf(project.tracks.find((track) => track.id === trackId) ?? null);
}

/** Returns a plugin of the song; null if it has been removed. */
export function findPlugin(project: Project, { channelId, effectId }: PluginOfSong): PluginEngine | PluginEffect | null {
  if (effectId === null) return instrumentOf(project, channelId);
  const effect = effectsOf(project, channelId).find(({ id }) => id === effectId);
  return effect && effect.type !== 'builtin' ? effect : null;
}

export class PluginCommands {
  /** The plugin that is loading a preset; null if none is. */
  loading = $state.raw<PluginOfSong | null>(null);
  /** The plugin that is saving a preset file; null if none is. */
  saving = $state.raw<PluginOfSong | null>(null);
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
    const engine = instrumentOf(this.#song.project, trackId);
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
    const engine = instrumentOf(this.#song.project, trackId);
    if (engine) this.#song.edit(`Reset ${this.#plugins.nameOf(engine)}`, (project) => setInstrumentState(project, trackId, null));
  }

  /** Records that the song is made with the installed version of a plugin from now on. */
  acceptVersion({ channelId, effectId }: PluginOfSong, version: string): void {
    this.#song.edit(`Keep version ${version}`, (project) =>
      effectId === null ? setInstrumentVersion(project, channelId, version) : setEffectVersion(project, channelId, effectId, version),
    );
  }

  /** Loads one of the plugin's programs. */
  loadProgram(plugin: PluginOfSong, index: number, name: string): Promise<void> {
    return this.#load(plugin, async () => index, `program \u201c${name}\u201d`);
  }

  /** Loads a `.vstpreset`, `.fxp` or `.fxb` file. */
  loadPresetFile(plugin: PluginOfSong, file: File): Promise<void> {
    return this.#load(plugin, () => base64Of(file), `preset \u201c${file.name}\u201d`);
  }

  /** Lets the plugin save its settings, and the browser save them as a `.vstpreset` or `.fxp` file. */
  async savePresetFile(plugin: PluginOfSong, name: string): Promise<void> {
    const settings = findPlugin(this.#song.project, plugin);
    if (!settings || this.saving !== null) return;
    this.saving = plugin;
    try {
      saveBlob(await this.#parameters.presetFile(settings), `${name}.${settings.type === 'vst3' ? 'vstpreset' : 'fxp'}`);
    } catch (error) {
      this.#notices.showFailure(`The preset of ${name} cannot be saved`, error);
    } finally {
      this.saving = null;
    }
  }

  /** Lets the plugin load a preset, and stores its state. `what` names the preset in texts. */
  async #load(plugin: PluginOfSong, preset: () => Promise<number | string>, what: string): Promise<void> {
    const settings = findPlugin(this.#song.project, plugin);
    if (!settings || this.loading !== null) return;
    const { channelId, effectId } = plugin;
    const { generation } = this.#song;
    this.loading = plugin;
    try {
      const savedState = await this.#parameters.stateWithPreset(settings, await preset());
      // The user may have chosen another plugin or song in the meantime.
      const currentPlugin = findPlugin(this.#song.project, plugin);
      if (generation !== this.#song.generation || currentPlugin?.plugin_id !== settings.plugin_id || currentPlugin.type !== settings.type) return;
      this.#song.edit(`Load ${what}`, (project) =>
        effectId === null ? setInstrumentState(project, channelId, savedState) : setEffectState(project, channelId, effectId, savedState),
      );
    } catch (error) {
      this.#notices.showFailure(`The ${what} cannot be loaded`, error);
    } finally {
      this.loading = null;
    }
  }
}

/** Returns the content of a file in base64. */
async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
