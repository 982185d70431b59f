/**
 * The open windows of plugins. Changes that the user makes in a window become edits of the song.
 */
import type { Api } from '../../api/client';
import type { PluginWindowEvent } from '../../api/plugin-window';
import { inSentence } from '../../project/effect-kinds';
import { setEffectParameter, setEffectState } from '../../project/edit-effects';
import { lanesOf } from '../../project/automation';
import type { PluginEffect, PluginEngine } from '../../project/model';
import { setInstrumentParameter, setInstrumentState, targetOfParameter } from '../../project/plugin-instrument';
import { hasSteps, parameterName } from '../../project/plugin-parameter-format';
import type { PluginParameters } from '../library/plugin-parameters.svelte';
import type { Notices } from '../notices.svelte';
import type { AutomatedValues } from '../playback/automated-values';
import type { AutomationWriting } from './automation-writing.svelte';
import { findPlugin, type PluginOfSong } from './plugin-commands.svelte';
import { PluginWindow, valuesOf } from './plugin-window.svelte';
import type { Song } from './song.svelte';

/** The values of automated parameters at the playhead, and the writing of them. */
type Automation = { values: AutomatedValues; writing: AutomationWriting };

/** Largest difference of a value that a plugin reports and of the automation that it got. */
const ECHO_MAX = 0.002;

const areSame = (a: PluginOfSong, b: PluginOfSong): boolean => a.channelId === b.channelId && a.effectId === b.effectId;

export class PluginWindows {
  /** The windows, in the order in which they were opened. */
  windows = $state.raw<readonly PluginWindow[]>([]);
  /** The windows, the front one last. */
  #stack = $state.raw<readonly PluginWindow[]>([]);
  /** The window that gets the focus when it is shown; null after it has got it. */
  focused = $state.raw<PluginWindow | null>(null);
  /** The windows in the dock. */
  readonly docked: readonly PluginWindow[] = $derived(this.windows.filter(({ layout }) => layout.isDocked));
  readonly #api: Api;
  readonly #song: Song;
  readonly #parameters: PluginParameters;
  readonly #automation: Automation;
  readonly #notices: Notices;
  /** Number of gestures in windows so far. Each is a separate undo step. */
  #gestures = 0;

  constructor(api: Api, song: Song, parameters: PluginParameters, automation: Automation, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#parameters = parameters;
    this.#automation = automation;
    this.#notices = notices;
  }

  /** Opens the window of a plugin, or brings it to the front. */
  open(plugin: PluginOfSong, name: string): void {
    const shown = this.windows.find((window) => areSame(window.plugin, plugin));
    if (shown) {
      this.bringToFront(shown);
      this.focused = shown;
      return;
    }
    const pluginId = findPlugin(this.#song.project, plugin)?.plugin_id;
    if (pluginId === undefined) return;
    const opened = { plugin, name, pluginId, number: this.windows.length };
    const window = new PluginWindow(this.#api, opened, (event) => this.#receive(plugin, name, event));
    this.windows = [...this.windows, window];
    this.bringToFront(window);
    this.focused = window;
    this.reopen(window);
  }

  /** Opens a window whose plugin has ended again, with the settings of the song. */
  reopen(window: PluginWindow): void {
    const settings = this.settingsOf(window);
    if (settings) void window.open(settings);
  }

  /** Returns the position of a window among the others: higher ones cover lower ones. */
  layerOf(window: PluginWindow): number {
    return this.#stack.indexOf(window);
  }

  bringToFront(window: PluginWindow): void {
    if (this.#stack.at(-1) !== window) this.#stack = [...this.#stack.filter((other) => other !== window), window];
  }

  close(window: PluginWindow): void {
    this.windows = this.windows.filter((other) => other !== window);
    this.#stack = this.#stack.filter((other) => other !== window);
    if (this.focused === window) this.focused = null;
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
      const values = { ...valuesOf(settings), ...this.#automatedValues(window.plugin) };
      window.show(values, (id) => list?.parameters.find((parameter) => parameter.id === id)?.value ?? null);
    }
  }

  /** Returns the values of the automated parameters of a plugin at the playhead, by parameter id. */
  #automatedValues({ channelId, effectId }: PluginOfSong): Record<string, number> {
    const prefix = effectId === null ? targetOfParameter('') : `${effectId}/`;
    const values: Record<string, number> = {};
    for (const { target } of lanesOf(this.#song.project, channelId)) {
      const value = target.startsWith(prefix) ? this.#automation.values.currentValueOf(channelId, target) : null;
      if (value !== null) values[target.slice(prefix.length)] = value;
    }
    return values;
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
    else if (event.type === 'end_edit') this.#automation.writing.end();
  }

  #edit(plugin: PluginOfSong, name: string, id: number, value: number): void {
    const settings = findPlugin(this.#song.project, plugin);
    if (!settings) return;
    const { channelId, effectId } = plugin;
    const parameter = this.#parameters.listOf(settings)?.parameters.find((candidate) => candidate.id === id);
    const parameterText = parameter ? inSentence({ name: parameterName(parameter) }) : `parameter ${id}`;
    const target = effectId === null ? targetOfParameter(id) : `${effectId}/${id}`;
    // Some plugins report the values that they get.
    const automated = this.#automation.values.currentValueOf(channelId, target);
    if (automated !== null && Math.abs(automated - value) < ECHO_MAX) return;
    if (parameter?.is_automatable) {
      const move = { channelId, target, name: `${name} ${parameterText}`, value, initial: valuesOf(settings)[id] ?? parameter.value, isStepped: hasSteps(parameter) };
      if (this.#automation.writing.write(move, `window ${this.#gestures}`)) return;
    }
    this.#song.edit(
      `Change ${name} ${parameterText}`,
      (project) =>
        effectId === null ? setInstrumentParameter(project, channelId, id, value) : setEffectParameter(project, channelId, effectId, String(id), value),
      `${channelId} ${effectId ?? ''} window ${this.#gestures}`,
    );
  }
}
