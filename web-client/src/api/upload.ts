/**
 * Uploads with progress, by XMLHttpRequest, since `fetch` does not report the progress of a body.
 */
import { ApiError, failureOf, UNREACHABLE, type Api } from './client';
import type { paths } from './generated/schema';
import type { AudioUpload, SoundFontUpload } from './types';

/** Receives the fraction of bytes that were sent, 0..1. */
type OnProgress = (progress: number) => void;

/** Uploads an audio file, as {@link sendFile} does; at a progress of 1 the service decodes. */
export const uploadAudio = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<AudioUpload> =>
  sendFile(api, '/api/v1/audio/upload', file, onProgress, signal);

/** Uploads a SoundFont, as {@link sendFile} does; at a progress of 1 the service reads it. */
export const uploadSoundFont = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<SoundFontUpload> =>
  sendFile(api, '/api/v1/plugins/soundfonts/upload', file, onProgress, signal);

/** Sends a file as a form. Rejects with an {@link ApiError}, or an `AbortError` after a cancel. */
function sendFile<Answer>(api: Api, path: keyof paths, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<Answer> {
  const form = new FormData();
  form.append('file', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    if (api.token) request.setRequestHeader('Authorization', `Bearer ${api.token}`);
    request.responseType = 'text';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('load', () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Answer);
      else reject(new ApiError(failureOf(request.status, request.statusText, request.responseText)));
    });
    request.addEventListener('error', () => reject(new ApiError(UNREACHABLE)));
    request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}
