/** Uploads in progress. */

/** `progress` is the share of bytes that the service has, 0..1. */
export type Upload = { name: string; progress: number; cancel: () => void };

export class Uploads {
  list = $state.raw<readonly Upload[]>([]);

  /** Lists an upload until `send` ends; resolves to null if the visitor cancelled it. */
  async track<T>(
    file: File,
    send: (onProgress: (progress: number) => void, signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const abort = new AbortController();
    const cancel = (): void => abort.abort();
    const others = (): Upload[] => this.list.filter((upload) => upload.cancel !== cancel);
    const show = (progress: number): void => {
      this.list = [...others(), { name: file.name, progress, cancel }];
    };
    show(0);
    try {
      return await send(show, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    } finally {
      this.list = others();
    }
  }
}
