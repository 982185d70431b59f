/** Sending files, with progress: `fetch` says nothing of how far a body has gone. */
import { ApiError, failureOf, UNREACHABLE, type Api } from './client';
import type { paths } from './generated/schema';
import type { AudioUpload } from './types';

const UPLOAD: keyof paths = '/api/v1/audio/upload';

/**
 * Uploads an audio file. `onProgress` is told the share of bytes that are there, 0..1; at 1 the
 * service decodes. Rejects with an {@link ApiError}, or an `AbortError` when called off.
 */
export function uploadAudio(api: Api, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<AudioUpload> {
  const form = new FormData();
  form.append('file', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', UPLOAD);
    if (api.token) request.setRequestHeader('Authorization', `Bearer ${api.token}`);
    request.responseType = 'text';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('load', () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as AudioUpload);
      else reject(new ApiError(failureOf(request.status, request.statusText, request.responseText)));
    });
    request.addEventListener('error', () => reject(new ApiError(UNREACHABLE)));
    request.addEventListener('abort', () => reject(new DOMException('called off', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}
