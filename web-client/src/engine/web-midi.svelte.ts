/** Receives notes from MIDI keyboards, and lists outputs, through the browser's Web MIDI API. */
import type { LiveKeys } from './live-keys.svelte';

export type WebMidiState = 'off' | 'asking' | 'on' | 'denied' | 'unsupported';

export class WebMidi {
  state = $state<WebMidiState>('navigator' in globalThis && 'requestMIDIAccess' in navigator ? 'off' : 'unsupported');
  /** Names of the connected MIDI inputs. */
  inputs = $state.raw<readonly string[]>([]);
  /** Names of the connected MIDI outputs. */
  outputs = $state.raw<readonly string[]>([]);
  readonly #keys: LiveKeys;
  #access: MIDIAccess | null = null;

  constructor(liveKeys: LiveKeys) {
    this.#keys = liveKeys;
  }

  /**
   * Connects all MIDI inputs, and later those that are plugged in. The browser may ask the user for
   * permission.
   */
  async connect(): Promise<void> {
    if (this.state !== 'off' && this.state !== 'denied') return;
    this.state = 'asking';
    try {
      const access = await navigator.requestMIDIAccess();
      const listen = (): void => {
        this.inputs = [...access.inputs.values()].map((input) => {
          input.onmidimessage = (event) => {
            if (event.data) this.receive(event.data, event.timeStamp);
          };
          return input.name ?? 'MIDI input';
        });
        this.outputs = [...access.outputs.values()].map(nameOfOutput);
      };
      this.#access = access;
      listen();
      access.onstatechange = listen;
      this.state = 'on';
    } catch {
      this.state = 'denied';
    }
  }

  /** Returns the connected output with this name; null if there is none. */
  outputNamed(name: string): MIDIOutput | null {
    return [...(this.#access?.outputs.values() ?? [])].find((output) => nameOfOutput(output) === name) ?? null;
  }

  /**
   * Plays a MIDI message that arrived at `atMs`: note on (0x9n), note off (0x8n), pitch bend (0xEn)
   * or controller (0xBn). All sound off (controller 120) and all notes off (123) release all keys.
   * Ignores other messages.
   */
  receive(message: Uint8Array, atMs = performance.now()): void {
    const [status = 0, data1 = 0, data2 = 0] = message;
    const kind = status & 0xf0;
    if (kind === 0x90 && data2 > 0) this.#keys.press(data1, data2 / 127, atMs);
    else if (kind === 0x80 || kind === 0x90) this.#keys.release(data1, atMs);
    else if (kind === 0xb0 && (data1 === 120 || data1 === 123)) this.#keys.releaseAll();
    else if (kind === 0xb0 && data1 < 120) this.#keys.control(data1, data2, atMs);
    else if (kind === 0xe0) this.#keys.bend(data1 + 128 * data2 - 8192, atMs);
  }
}

const nameOfOutput = ({ name }: MIDIOutput): string => name ?? 'MIDI output';
