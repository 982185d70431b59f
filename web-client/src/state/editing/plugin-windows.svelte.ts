/**
 * The open windows of plugins. Changes that the user makes in a window become edits of the song.
 */
import type { Api } from '../../api/client';
import type { PluginWindowEvent } from '../../api/plugin-window';
import { inSentence } from '../../project/effect-kinds';
import { setEffectParameter, setEffectState } from '../../project/edit-effects';
import type { PluginEffect, PluginEngine } from '../../project/model';
import { setInstrumentParameter, setInstrumentState } from '../../project/plugin-instrument';
import { parameterName } from '../../project/plugin-parameter-format';
import type { PluginParameters } from '../library/plugin-parameters.svelte';
import type { Notices } from '../notices.svelte';
import { findPlugin, type PluginOfSong } from './plugin-commands.svelte';
import { PluginWindow, valuesOf } from './plugin-window.svelte';
import type { Song } from './song.svelte';

const areSame = (a: PluginOfSong, b: PluginOfSong): boolean => a.channelId === b.channelId && a.effectId === b.effectId;

export class PluginWindows {
  /** The windows, the front one last. */
  windows = $state.raw<readonly PluginWindow[]>([]);
  readonly #api: Api;
  readonly #song: Song;
  readonly #parameters: PluginParameters;
  readonly #notices: Notices;
  /** Number of gestures in windows so far. Each is a separate undo step. */
  #gestures = 0;

  constructor(api: Api, song: Song, parameters: PluginParameters, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#parameters = parameters;
    this.#notices = notices;
  }

  /** Opens the window of a plugin, or brings it to the front. */
  open(plugin: PluginOfSong, name: string): void {
    const shown = this.windows.find((window) => areSame(window.plugin, plugin));
    const window = shown ?? new PluginWindow(this.#api, plugin, name, (event) => this.#receive(plugin, name, event));
    this.windows = [...this.windows.filter((other) => other !== window), window];
    if (!shown) this.reopen(window);
  }

  /** Opens a window whose plugin has ended again, with the settings of the song. */
  reopen(window: PluginWindow): void {
    const settings = this.settingsOf(window);
    if (settings) void window.open(settings);
  }

  bringToFront(window: PluginWindow): void {
    if (this.windows.at(-1) !== window) this.windows = [...this.windows.filter((other) => other !== window), window];
  }

  close(window: PluginWindow): void {
    this.windows = this.windows.filter((other) => other !== window);
    void window.close();
  }

  closeAll(): void {
    for (const window of this.windows) this.close(window);
  }

  /** Returns the plugin of a window in the song; null if it has been removed. */
  settingsOf({ plugin }: PluginWindow): PluginEngine | PluginEffect | null {
    return findPlugin(this.#song.project, plugin);
  }

  /** Makes a window follow the song: its values, its state, and the removal of its plugin. */
  follow(window: PluginWindow): void {
    const settings = this.settingsOf(window);
    if (!settings) {
      this.close(window);
    } else if (window.differsFrom(settings)) {
      void window.open(settings);
    } else {
      const list = this.#parameters.listOf(settings);
      window.show(valuesOf(settings), (id) => list?.parameters.find((parameter) => parameter.id === id)?.value ?? null);
    }
  }

  /** Stores the whole state of the plugin in the song, with settings that are no parameters. */
  async storeState(window: PluginWindow): Promise<void> {
    const { channelId, effectId } = window.plugin;
    const settings = this.settingsOf(window);
    const { generation } = this.#song;
    try {
      const state = await window.readState();
      if (state === null || !settings || generation !== this.#song.generation) return;
      const saved = { state, version: this.#parameters.listOf(settings)?.version ?? '' };
      const isStored = this.#song.edit(`Store settings of ${window.name}`, (project) =>
        effectId === null ? setInstrumentState(project, channelId, saved) : setEffectState(project, channelId, effectId, saved),
      );
      if (isStored) window.acceptState({ ...settings, state });
    } catch (error) {
      this.#notices.showFailure(`The settings of ${window.name} cannot be stored`, error);
    }
  }

  #receive(plugin: PluginOfSong, name: string, event: PluginWindowEvent): void {
    if (event.type === 'begin_edit') this.#gestures += 1;
    else if (event.type === 'edit') this.#edit(plugin, name, event.id, event.value);
    else if (event.type === 'end_edit') this.#song.endGesture();
  }

  #edit(plugin: PluginOfSong, name: string, id: number, value: number): void {
    const settings = findPlugin(this.#song.project, plugin);
    if (!settings) return;
    const { channelId, effectId } = plugin;
    const parameter = this.#parameters.listOf(settings)?.parameters.find((candidate) => candidate.id === id);
    this.#song.edit(
      `Change ${name} ${parameter ? inSentence({ name: parameterName(parameter) }) : `parameter ${id}`}`,
      (project) =>
        effectId === null ? setInstrumentParameter(project, channelId, id, value) : setEffectParameter(project, channelId, effectId, String(id), value),
      `${channelId} ${effectId ?? ''} window ${this.#gestures}`,
    );
  }
}
