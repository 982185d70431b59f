/** Uploads files by XMLHttpRequest, because `fetch` does not report the progress of an upload. */
import { ApiError, failureOf, UNREACHABLE, type Api } from './client';
import type { paths } from './generated/schema';
import type { SongFileFormat } from './endpoints';
import type { AudioUpload, Measurements, SoundFontUpload, StoredSong } from './types';

/** Receives the fraction, 0..1, of the file's bytes that have been sent. */
type OnProgress = (progress: number) => void;

/**
 * Uploads an audio file with {@link send}. The service decodes it after the last byte, so the
 * progress reaches 1 before the answer comes.
 */
export const uploadAudio = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<AudioUpload> =>
  send(api, '/api/v1/audio/upload', formOf(file), onProgress, signal);

/**
 * Uploads a SoundFont with {@link send}. The service checks it after the last byte, so the
 * progress reaches 1 before the answer comes.
 */
export const uploadSoundFont = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<SoundFontUpload> =>
  send(api, '/api/v1/plugins/soundfonts/upload', formOf(file), onProgress, signal);

/**
 * Uploads a file that contains a song with {@link send}. The service stores the song after the last
 * byte, so the progress reaches 1 before the answer comes.
 */
export const uploadSong = (
  api: Api,
  format: SongFileFormat,
  file: File,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<StoredSong> => {
  const body = new Blob([file], { type: 'application/zip' });
  if (format === 'bundle') return send(api, '/api/v1/projects/import', body, onProgress, signal);
  const name = encodeURIComponent(file.name.replace(/\.dawproject$/i, ''));
  return send(api, '/api/v1/projects/import/dawproject', body, onProgress, signal, `?name=${name}`);
};

/**
 * Measures an audio file that the service does not keep. The file is sent with {@link send}, and
 * measured after the last byte.
 */
export const measureReference = (api: Api, file: File, onProgress: OnProgress, signal: AbortSignal): Promise<Measurements> =>
  send(api, '/api/v1/audio/reference', formOf(file), onProgress, signal);

/** Returns a form with a file. */
function formOf(file: File): FormData {
  const form = new FormData();
  form.append('file', file, file.name);
  return form;
}

/**
 * Sends a body with the method POST. Rejects with an {@link ApiError}, or with an `AbortError` if
 * `signal` cancels the upload.
 */
function send<Answer>(
  api: Api,
  path: keyof paths,
  body: FormData | Blob,
  onProgress: OnProgress,
  signal: AbortSignal,
  query = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path + query);
    if (api.token) request.setRequestHeader('Authorization', `Bearer ${api.token}`);
    request.responseType = 'text';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('load', () => {
      if (request.status === 200 || request.status === 201) resolve(JSON.parse(request.responseText) as Answer);
      else reject(new ApiError(failureOf(request.status, request.statusText, request.responseText)));
    });
    request.addEventListener('error', () => reject(new ApiError(UNREACHABLE)));
    request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}
