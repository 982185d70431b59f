import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Api, bodyOf, reasonOf } from '../src/api/client';
import { importMidi, loadProject, saveProject, writeTemp } from '../src/api/endpoints';
import { emptyProject } from '../src/project/normalize';

/** The requests that the client sent. */
let sentRequests: Request[];
/** Returns the service's answer to a request. */
let answer: (request: Request) => Response | Promise<Response>;

beforeEach(() => {
  sentRequests = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    sentRequests.push(request.clone());
    return answer(request);
  });
});
afterEach(() => vi.unstubAllGlobals());

const api = (): Api => new Api('http://songs.test');
const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });
const me = (from: Api): Promise<unknown> => bodyOf(from.call.GET('/api/v1/auth/me'));

describe('a request', () => {
  it('carries the token, the revision and the project', async () => {
    const client = api();
    client.token = 'abc';
    answer = () => json({ project_id: 'a/b', revision: 8, updated_at: '' });
    const project = { ...emptyProject(), project_id: 'a/b' };
    expect((await saveProject(client, project, 7)).revision).toBe(8);
    const [request] = sentRequests;
    expect([request?.method, request?.url]).toEqual(['PUT', 'http://songs.test/api/v1/projects/a%2Fb']);
    expect(request?.headers.get('authorization')).toBe('Bearer abc');
    expect(request?.headers.get('if-match')).toBe('"7"');
    expect(await request?.json()).toEqual(project);
  });

  it('sends text and bytes unchanged', async () => {
    const client = api();
    answer = () => json({});
    await writeTemp(client, { client_id: 'w', project: emptyProject() }, '{"as": "it is"}', true);
    expect(sentRequests[0]?.headers.get('content-type')).toBe('application/json');
    expect(await sentRequests[0]?.text()).toBe('{"as": "it is"}');
    await importMidi(client, new Blob([new Uint8Array([77, 84, 0, 255])]), 'song', null);
    expect([sentRequests[1]?.url, sentRequests[1]?.headers.get('content-type')]).toEqual([
      'http://songs.test/api/v1/multitrack/midi/import?name=song',
      'audio/midi',
    ]);
    expect([...new Uint8Array((await sentRequests[1]?.arrayBuffer()) ?? new ArrayBuffer(0))]).toEqual([77, 84, 0, 255]);
  });
});

describe('an answer', () => {
  it('contains the revision of a project', async () => {
    answer = () => json({ project_id: 'p' }, 200, { ETag: '"12"' });
    expect(await loadProject(api(), 'p')).toEqual({ document: { project_id: 'p' }, revision: 12 });
  });

  it('that describes a problem is thrown as an error with all fields of the problem', async () => {
    const errors = [{ pointer: '/tracks/0', detail: 'no track' }];
    answer = () => json({ type: '/problems/x', title: 'Bad', status: 400, detail: 'Not valid.', code: 'x', errors }, 400);
    await expect(me(api())).rejects.toMatchObject({ name: 'ApiError', status: 400, code: 'x', message: 'Not valid.', errors });
  });

  it('of a proxy is thrown as an error with the HTTP status', async () => {
    answer = () => new Response('<h1>Bad gateway</h1>', { status: 502, statusText: 'Bad Gateway' });
    await expect(me(api())).rejects.toMatchObject({ status: 502, code: 'http_502', message: 'The service answered with the error 502 Bad Gateway; try again later.' });
  });

  it('with status 401 ends the session only if the request carried a token', async () => {
    const client = api();
    const onUnauthorized = vi.fn();
    client.onUnauthorized = onUnauthorized;
    answer = () => json({ detail: 'Log in first.', code: 'token_missing' }, 401);
    await expect(me(client)).rejects.toMatchObject({ status: 401 });
    expect(onUnauthorized).not.toHaveBeenCalled();
    client.token = 'old';
    await expect(me(client)).rejects.toMatchObject({ status: 401 });
    expect(onUnauthorized).toHaveBeenCalledOnce();
  });

  it('that does not arrive is reported as an unreachable service', async () => {
    answer = () => Promise.reject(new TypeError('fetch failed'));
    const error: unknown = await me(api()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 0, code: 'unreachable' });
    expect(reasonOf(error)).toBe('The service does not answer; check that it still runs and try again.');
  });

  it('to a cancelled request is reported as an AbortError, not as an unreachable service', async () => {
    const abort = new AbortController();
    answer = (request) => {
      abort.abort();
      return Promise.reject(request.signal.reason as Error);
    };
    const call = api().call.GET('/api/v1/auth/me', { signal: abort.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });
});
