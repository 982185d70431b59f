/** An open window of a plugin of the song. */
import { ApiError, reasonOf, type Api } from '../../api/client';
import {
  closePluginWindow,
  openPluginWindow,
  pingPluginWindow,
  PluginWindowConnection,
  readWindowState,
  type PicturePart,
  type PluginWindowEvent,
  type PluginWindowInput,
} from '../../api/plugin-window';
import type { OpenedWindow, OpenWindowRequest } from '../../api/types';
import type { PluginEffect, PluginEngine } from '../../project/model';
import { layoutOf, rememberLayout, type WindowLayout } from '../view/plugin-window-layout';
import type { PluginOfSong } from './plugin-commands.svelte';

/** How often a window is opened that the service still closes, and the time between. */
const BUSY_ATTEMPTS = 60;
const BUSY_PAUSE_MS = 250;

/** A normalized value of a parameter. */
type Value = { id: number; value: number };

export type PluginWindowState =
  | { kind: 'opening' }
  | { kind: 'open'; opened: OpenedWindow }
  | { kind: 'ended'; reason: string };

/** The plugin of a new window. */
type OpenedPlugin = { plugin: PluginOfSong; name: string; pluginId: string; number: number };

/** The numeric values of a plugin in the song by parameter id. */
export function valuesOf({ params = {} }: PluginEngine | PluginEffect): Record<string, number> {
  return Object.fromEntries(Object.entries(params).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

export class PluginWindow {
  state = $state.raw<PluginWindowState>({ kind: 'opening' });
  readonly plugin: PluginOfSong;
  readonly name: string;
  /** Where the window is in the page. */
  layout = $state.raw<WindowLayout>({ x: 0, y: 0, isDocked: false, zoom: 1 });
  readonly #pluginId: string;
  readonly #api: Api;
  readonly #onEvent: (event: PluginWindowEvent) => void;
  #connection: PluginWindowConnection | null = null;
  /** The settings with which the plugin was opened; null before. */
  #settings: PluginEngine | PluginEffect | null = null;
  /** The values that the plugin has, as far as they are known. */
  #values = new Map<number, number>();
  /** Ids of the parameters that the user is changing in the window. */
  readonly #changing = new Set<number>();
  #isClosed = false;

  /** `number` is the number of windows that are open already. */
  constructor(api: Api, { plugin, name, pluginId, number }: OpenedPlugin, onEvent: (event: PluginWindowEvent) => void) {
    this.#api = api;
    this.plugin = plugin;
    this.name = name;
    this.#pluginId = pluginId;
    this.#onEvent = onEvent;
    this.layout = layoutOf(this.#layoutKey, pluginId, number);
  }

  get #layoutKey(): string {
    return `${this.#pluginId} ${this.plugin.channelId} ${this.plugin.effectId ?? ''}`;
  }

  /** Changes where the window is in the page, and remembers it. */
  setLayout(change: Partial<WindowLayout>): void {
    this.layout = { ...this.layout, ...change };
    rememberLayout(this.#layoutKey, this.#pluginId, this.layout);
  }

  /** Whether the plugin was opened with another plugin or state than `settings`. */
  differsFrom(settings: PluginEngine | PluginEffect): boolean {
    return this.#settings !== null && (settings.plugin_id !== this.#settings.plugin_id || settings.state !== this.#settings.state);
  }

  /** Records that the plugin has the state of `settings`. */
  acceptState(settings: PluginEngine | PluginEffect): void {
    this.#settings = settings;
  }

  /** Opens the window with the settings of the song. */
  async open(settings: PluginEngine | PluginEffect): Promise<void> {
    this.#disconnect();
    this.#settings = settings;
    this.state = { kind: 'opening' };
    const params = valuesOf(settings);
    this.#values = new Map(Object.entries(params).map(([id, value]) => [Number(id), value]));
    const { channelId, effectId } = this.plugin;
    const request = {
      plugin_id: settings.plugin_id,
      track_id: channelId,
      embed: true,
      ...(effectId === null ? {} : { effect_id: effectId }),
      ...(settings.state === undefined ? {} : { state: settings.state }),
      params,
    };
    try {
      let opened = await this.#openWhenFree(request);
      // A window of an earlier visit may have other settings than the song.
      if (opened.already_running) {
        await closePluginWindow(this.#api, opened.window_id);
        opened = await this.#openWhenFree(request);
      }
      if (this.#isClosed) await closePluginWindow(this.#api, opened.window_id);
      else this.state = { kind: 'open', opened };
    } catch (error) {
      this.state = { kind: 'ended', reason: reasonOf(error) };
    }
  }

  /** Opens the window, and waits while the service still closes an earlier one of the plugin. */
  async #openWhenFree(request: OpenWindowRequest): Promise<OpenedWindow> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await openPluginWindow(this.#api, request);
      } catch (error) {
        const isBusy = error instanceof ApiError && error.code === 'window_busy';
        if (!isBusy || attempt >= BUSY_ATTEMPTS || this.#isClosed) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
      }
    }
  }

  /** Connects the window with the picture in the page. */
  connect(onPart: (part: PicturePart) => Promise<void>): void {
    if (this.state.kind !== 'open') return;
    const { opened } = this.state;
    this.#disconnect();
    this.#connection = new PluginWindowConnection(this.#api, opened.embed_url, {
      onEvent: (event) => {
        if (event.type === 'begin_edit') this.#changing.add(event.id);
        else if (event.type === 'edit') this.#values.set(event.id, event.value);
        else if (event.type === 'end_edit') this.#changing.delete(event.id);
        this.#onEvent(event);
      },
      onPart,
      onClose: () => void this.#findReason(opened.window_id),
    });
  }

  /** Ends the connection, because the page no longer shows the window. */
  disconnect(): void {
    this.#disconnect();
  }

  async #findReason(windowId: string): Promise<void> {
    this.#disconnect();
    try {
      await pingPluginWindow(this.#api, windowId);
      this.state = { kind: 'ended', reason: 'The connection to the window was lost.' };
    } catch (error) {
      this.state = { kind: 'ended', reason: reasonOf(error) };
    }
  }

  sendInput(width: number, height: number, events: readonly PluginWindowInput[]): void {
    this.#connection?.sendInput(width, height, events);
  }

  /**
   * Sends the values of the song that the plugin does not have. `defaultOf` returns the value of a
   * parameter that the song does not set; null if it is not known.
   */
  show(values: Readonly<Record<string, number>>, defaultOf: (id: number) => number | null): void {
    const ids = new Set([...this.#values.keys(), ...Object.keys(values).map(Number)]);
    const changes: Value[] = [];
    for (const id of ids) {
      const value = values[id] ?? defaultOf(id);
      if (this.#changing.has(id) || value === null || value === (this.#values.get(id) ?? defaultOf(id))) continue;
      this.#values.set(id, value);
      changes.push({ id, value });
    }
    this.#connection?.setParameters(changes);
  }

  /** Returns the state of the plugin in base64; null if the window is not open. */
  readState(): Promise<string> | null {
    return this.state.kind === 'open' ? readWindowState(this.#api, this.state.opened.window_id) : null;
  }

  /** Ends the plugin of the window. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#disconnect();
    // The service closes a window that this request does not reach after some time.
    if (this.state.kind === 'open') await closePluginWindow(this.#api, this.state.opened.window_id).catch(() => undefined);
  }

  #disconnect(): void {
    this.#changing.clear();
    this.#connection?.close();
    this.#connection = null;
  }
}
