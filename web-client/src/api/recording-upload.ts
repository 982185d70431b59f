/**
 * Sends a growing file to the service: a resumable upload (tus 1.0.0) of deferred length.
 */
import { ApiError, failureOf, UNREACHABLE, type Api } from './client';

const TUS = { 'Tus-Resumable': '1.0.0' };

async function send(api: Api, method: string, path: string, headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
  const token: Record<string, string> = api.token ? { Authorization: `Bearer ${api.token}` } : {};
  const request = { method, headers: { ...TUS, ...token, ...headers }, ...(body ? { body } : {}) };
  const response = await fetch(path, request).catch(() => {
    throw new ApiError(UNREACHABLE);
  });
  if (!response.ok) throw new ApiError(failureOf(response.status, response.statusText, await response.text()));
  return response;
}

/** Begins an upload of a file with a name, and returns its path. */
export async function beginGrowingUpload(api: Api, name: string): Promise<string> {
  const encodedName = btoa(String.fromCharCode(...new TextEncoder().encode(name)));
  const headers = { 'Upload-Defer-Length': '1', 'Upload-Metadata': `filename ${encodedName}` };
  const response = await send(api, 'POST', '/api/v1/audio/uploads', headers);
  return response.headers.get('Location') ?? '';
}

/** Returns how many bytes of an upload the service has. */
export async function uploadOffset(api: Api, path: string): Promise<number> {
  return Number((await send(api, 'HEAD', path, {})).headers.get('Upload-Offset'));
}

/**
 * Appends bytes at an offset. With `lengthBytes`, announces the length of the file, which the
 * service decodes once it has all bytes.
 */
export async function appendToUpload(
  api: Api,
  path: string,
  offset: number,
  bytes: Uint8Array<ArrayBuffer>,
  lengthBytes?: number,
): Promise<void> {
  const length: Record<string, string> = lengthBytes === undefined ? {} : { 'Upload-Length': String(lengthBytes) };
  const headers = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream', ...length };
  await send(api, 'PATCH', path, headers, bytes);
}

/** State of an upload: the service receives or decodes it, or has made an audio file of it. */
export type GrowingUpload = { state: 'receiving' | 'decoding' | 'done' | 'refused'; audio_id?: string | null };

export async function readUpload(api: Api, path: string): Promise<GrowingUpload> {
  return (await (await send(api, 'GET', path, {})).json()) as GrowingUpload;
}

/** Deletes an upload and its bytes. */
export async function deleteUpload(api: Api, path: string): Promise<void> {
  await send(api, 'DELETE', path, {});
}
