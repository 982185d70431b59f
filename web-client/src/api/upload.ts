/** Uploads files by XMLHttpRequest, because `fetch` does not report the progress of an upload. */
import { ApiError, failureOf, UNREACHABLE, type Api } from './client';
import type { paths } from './generated/schema';
import type { AudioUpload, SoundFontUpload } from './types';

/** Receives the fraction, 0..1, of the file's bytes that have been sent. */
type OnProgress = (progress: number) => void;

/**
 * Uploads an audio file with {@link sendFile}. The service decodes it after the last byte, so the
 * progress reaches 1 before the answer comes.
 */
export const uploadAudio = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<AudioUpload> =>
  sendFile(api, '/api/v1/audio/upload', file, onProgress, signal);

/**
 * Uploads a SoundFont with {@link sendFile}. The service checks it after the last byte, so the
 * progress reaches 1 before the answer comes.
 */
export const uploadSoundFont = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<SoundFontUpload> =>
  sendFile(api, '/api/v1/plugins/soundfonts/upload', file, onProgress, signal);

/**
 * Sends a file as multipart form data. Rejects with an {@link ApiError}, or with an `AbortError` if
 * `signal` cancels the upload.
 */
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
