import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Session } from '../src/state/account/session.svelte';

const USER = { id: '7', username: 'ada', role: 'user', must_change_password: false, has_password: true };
const TOKEN = 'songfoundry.token';

type Answer = Response | Error;

/** The service's answers by path, in order. The last answer of a list is repeated. */
let answers: Record<string, Answer[]>;
/** The paths of all requests, in order. */
let requestedPaths: string[];
/** The entries of the browser's local storage. */
let stored: Map<string, string>;

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });
const problem = (status: number, headers: Record<string, string> = {}): Response =>
  json({ status, code: `http_${status}`, detail: `It is ${status}.` }, status, headers);
const unanswered = (): Answer => new TypeError('fetch failed');

beforeEach(() => {
  vi.useFakeTimers();
  requestedPaths = [];
  stored = new Map([[TOKEN, '"kept"']]);
  answers = {
    'system/capabilities': [json({})],
    'auth/me': [json({ ...USER, local: false })],
    'auth/local': [problem(403)],
  };
  vi.stubGlobal('window', { location: { hash: '', pathname: '/', reload: vi.fn() } });
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  // Node.js has no page address that completes relative URLs.
  vi.stubGlobal(
    'Request',
    class extends Request {
      constructor(input: RequestInfo | URL, init?: RequestInit) {
        super(typeof input === 'string' ? new URL(input, 'http://songs.test') : input, init);
      }
    },
  );
  vi.stubGlobal('fetch', async (request: Request) => {
    const path = new URL(request.url).pathname.replace('/api/v1/', '');
    requestedPaths.push(path);
    const remaining = answers[path] ?? [];
    const answer = remaining.length > 1 ? remaining.shift() : remaining[0];
    if (answer instanceof Response) return answer.clone();
    throw answer ?? new Error(`the test has no answer for ${path}`);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const requestCount = (path: string): number => requestedPaths.filter((requestedPath) => requestedPath === path).length;
const passSecs = (secs: number): Promise<unknown> => vi.advanceTimersByTimeAsync(secs * 1000);

/** Starts a session and lets its first requests end. */
async function startSession(): Promise<Session> {
  const session = new Session();
  void session.start();
  await passSecs(0);
  return session;
}

/** Returns the state of a session, which must be `waiting`. */
function waitingStateOf({ state }: Session): { problem: string; waitSecs: number } {
  if (state.kind !== 'waiting') throw new Error(`the session is ${state.kind}, not waiting`);
  return state;
}

describe('a page that starts while the service is busy', () => {
  for (const [name, failure] of [
    ['429', problem(429, { 'Retry-After': '7' })],
    ['503', problem(503)],
    ['502 from a proxy', new Response('<h1>Bad gateway</h1>', { status: 502 })],
    ['no answer', unanswered()],
  ] as const) {
    it(`keeps its token and retries after ${name}`, async () => {
      answers['auth/me'] = [failure, json({ ...USER, local: false })];
      const session = await startSession();
      expect(stored.get(TOKEN)).toBe('"kept"');
      const { problem: reason, waitSecs } = waitingStateOf(session);
      expect(reason).not.toBe('');
      expect(waitSecs).toBe(name === '429' ? 7 : 1);
      await passSecs(waitSecs - 0.5);
      expect(requestCount('auth/me')).toBe(1);
      await passSecs(1);
      expect([session.state.kind, session.user?.username, session.api.token]).toEqual(['open', 'ada', 'kept']);
      expect(requestCount('auth/local')).toBe(0);
    });
  }

  it('doubles its delay up to half a minute', async () => {
    answers['auth/me'] = [unanswered()];
    const session = await startSession();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const { waitSecs } = waitingStateOf(session);
      waits.push(waitSecs);
      await passSecs(waitSecs);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(stored.get(TOKEN)).toBe('"kept"');
  });

  it('retries immediately when it is started again, and ends the earlier retries', async () => {
    answers['auth/me'] = [unanswered(), unanswered(), json({ ...USER, local: false })];
    const session = await startSession();
    await passSecs(1);
    expect([session.state.kind, requestCount('auth/me')]).toEqual(['waiting', 2]);
    void session.start();
    await passSecs(0);
    expect([session.state.kind, requestCount('auth/me')]).toEqual(['open', 3]);
    await passSecs(60);
    expect(requestCount('auth/me')).toBe(3);
  });

  it('also retries the requests for the capabilities and for a local log-in', async () => {
    stored.clear();
    answers['system/capabilities'] = [problem(503), json({})];
    answers['auth/local'] = [problem(429), problem(403)];
    const session = await startSession();
    expect(session.state.kind).toBe('waiting');
    await passSecs(1);
    expect(session.state.kind).toBe('waiting');
    await passSecs(2);
    expect(session.state.kind).toBe('login');
  });
});

describe('a page that starts', () => {
  it('forgets only a token that the service refuses', async () => {
    answers['auth/me'] = [problem(401)];
    const session = await startSession();
    expect([session.state.kind, session.api.token, stored.has(TOKEN)]).toEqual(['login', null, false]);
  });

  it('shows an error that a retry would not resolve', async () => {
    answers['auth/me'] = [problem(400)];
    const session = await startSession();
    expect(session.state).toEqual({ kind: 'unreachable', problem: 'It is 400.' });
    expect(stored.get(TOKEN)).toBe('"kept"');
  });
});
