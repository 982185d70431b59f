/** The uploads that are in progress. */

/** An upload; `progress` is the fraction of its bytes, 0..1, that has been sent. */
export type Upload = { name: string; progress: number; cancel: () => void };

export class Uploads {
  activeUploads = $state.raw<readonly Upload[]>([]);

  /**
   * Calls `send` and shows the upload in `active` until it ends. Resolves to null if the user
   * cancelled the upload.
   */
  async track<T>(
    file: File,
    send: (onProgress: (progress: number) => void, signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const abort = new AbortController();
    const cancel = (): void => abort.abort();
    const otherUploads = (): Upload[] => this.activeUploads.filter((upload) => upload.cancel !== cancel);
    const show = (progress: number): void => {
      this.activeUploads = [...otherUploads(), { name: file.name, progress, cancel }];
    };
    show(0);
    try {
      return await send(show, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    } finally {
      this.activeUploads = otherUploads();
    }
  }
}
