/** SoundFonts on their way from the service into the engine. */
import type { SongEngine } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { downloadSoundFont } from '../api/endpoints';

export type BankLoading = { id: string; fraction: number | null };

export class Banks {
  /** The bank being fetched, for the progress display. */
  loading = $state.raw<BankLoading | null>(null);
  readonly #api: Api;
  readonly #failed = new Set<string>();

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Brings the banks that the engine lacks, one after the other. Answers with
   * those that could not be had; a bank that failed is not tried again by itself.
   */
  async bring(engine: SongEngine, ids: readonly string[]): Promise<Map<string, unknown>> {
    const failures = new Map<string, unknown>();
    for (const id of ids) {
      if (engine.hasBank(id) || this.#failed.has(id)) continue;
      this.loading = { id, fraction: null };
      try {
        await engine.loadBank(id, await this.#download(id));
      } catch (error) {
        this.#failed.add(id);
        failures.set(id, error);
      } finally {
        this.loading = null;
      }
    }
    return failures;
  }

  /** Lets banks that failed be tried again. */
  forgetFailures(): void {
    this.#failed.clear();
  }

  async #download(id: string): Promise<ArrayBuffer> {
    const response = await downloadSoundFont(this.#api, id, new AbortController().signal);
    const length = Number(response.headers.get('content-length') ?? 0);
    const encoded = response.headers.get('content-encoding');
    if (!response.body || length === 0 || encoded !== null) return response.arrayBuffer();
    const bytes = new Uint8Array(length);
    let filled = 0;
    for await (const chunk of chunksOf(response.body)) {
      if (filled + chunk.length > length) throw new Error(`SoundFont ${id} is longer than the ${length} bytes announced`);
      bytes.set(chunk, filled);
      filled += chunk.length;
      this.loading = { id, fraction: filled / length };
    }
    if (filled < length) throw new Error(`SoundFont ${id} broke off after ${filled} of ${length} bytes`);
    return bytes.buffer;
  }
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
