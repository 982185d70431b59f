/** The windows of plugins: the service's operations, and the WebSocket of a window. */
import { bodyOf, type Api } from './client';
import type { OpenedWindow, OpenWindowRequest } from './types';

/** Opens the own window of a plugin. The answer comes when the plugin has drawn its window. */
export const openPluginWindow = ({ call }: Api, body: OpenWindowRequest): Promise<OpenedWindow> => bodyOf(call.POST('/api/v1/plugins/open-fx-gui', { body }));

export const closePluginWindow = ({ call }: Api, windowId: string): Promise<unknown> =>
  bodyOf(call.POST('/api/v1/plugins/fx-gui/close', { body: { window_id: windowId } }));

/** Returns the state of the plugin of a window in base64. */
export const readWindowState = async ({ call }: Api, windowId: string): Promise<string> =>
  (await bodyOf(call.GET('/api/v1/plugins/fx-gui/{window_id}/state', { params: { path: { window_id: windowId } } }))).state;

/** Checks that a window is open. The error says why it has ended. */
export const pingPluginWindow = ({ call }: Api, windowId: string): Promise<unknown> =>
  bodyOf(call.GET('/api/v1/plugins/fx-gui/{window_id}/ping', { params: { path: { window_id: windowId } } }));

/** A message of the window: the steps of a change that the user makes in it. */
export type PluginWindowEvent =
  | { type: 'begin_edit'; id: number }
  | { type: 'edit'; id: number; value: number }
  | { type: 'end_edit'; id: number }
  | { type: 'refused' };

/** A changed part of the picture, and the size of the whole picture in pixels. */
export type PicturePart = { x: number; y: number; width: number; height: number; jpeg: Blob };

/** Input of the user. Positions refer to the width and height that are sent with them. */
export type PluginWindowInput =
  | { type: 'move'; x: number; y: number }
  | { type: 'button'; x: number; y: number; button: number; down: boolean }
  | { type: 'wheel'; x: number; y: number; steps_x: number; steps_y: number }
  | { type: 'key'; key: string; down: boolean }
  | { type: 'text'; text: string }
  | { type: 'release' };

type Handlers = {
  onEvent: (event: PluginWindowEvent) => void;
  /** Draws a part. The next part comes after the promise has resolved. */
  onPart: (part: PicturePart) => Promise<void>;
  /** Called once, when the connection is lost or refused. */
  onClose: () => void;
};

/** Bytes before the JPEG of a part: five little-endian 16-bit numbers. */
const PART_HEADER_BYTES = 10;

/** The WebSocket of a window. */
export class PluginWindowConnection {
  readonly #socket: WebSocket;
  #drawing: Promise<void> = Promise.resolve();

  constructor(api: Api, embedUrl: string, handlers: Handlers) {
    const url = new URL(`${embedUrl}/live`, window.location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#socket = new WebSocket(url, ['songfoundry.v1', ...(api.token === null ? [] : [`bearer.${api.token}`])]);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onclose = () => handlers.onClose();
    this.#socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') handlers.onEvent(JSON.parse(data) as PluginWindowEvent);
      else this.#draw(data, handlers);
    };
  }

  #draw(message: ArrayBuffer, { onPart }: Handlers): void {
    const view = new DataView(message);
    const number = (index: number): number => view.getUint16(2 * index, true);
    const jpeg = new Blob([new Uint8Array(message, PART_HEADER_BYTES)], { type: 'image/jpeg' });
    const part = { x: number(0), y: number(1), width: number(2), height: number(3), jpeg };
    // Parts are drawn in order, because a later one may cover an earlier one.
    this.#drawing = this.#drawing
      .then(() => onPart(part))
      .catch(() => undefined)
      .then(() => this.#send({ type: 'received' }));
  }

  sendInput(width: number, height: number, events: readonly PluginWindowInput[]): void {
    if (events.length > 0) this.#send({ type: 'input', width, height, events });
  }

  setParameters(values: readonly { id: number; value: number }[]): void {
    if (values.length > 0) this.#send({ type: 'parameters', values });
  }

  #send(message: unknown): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Closes the connection without calling `onClose`. */
  close(): void {
    this.#socket.onclose = null;
    this.#socket.close();
  }
}
