/** Requests to the service: authorisation, JSON, and failures as one kind of error. */
import type { Problem } from './types';

const PREFIX = '/api/v1';

/** An answer that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: { pointer: string; detail: string }[];

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.errors = problem.errors ?? [];
  }
}

/** What went wrong, as the end of a sentence, whichever kind of failure it is. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export type RequestOptions = {
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
  keepalive?: boolean;
};

const OFFLINE: Problem = {
  status: 0,
  code: 'unreachable',
  detail: 'the service does not answer; check that it still runs and try again.',
};

async function problemOf(response: Response): Promise<Problem> {
  const plain: Problem = {
    status: response.status,
    code: `http_${response.status}`,
    detail: `the service answered ${response.status} ${response.statusText}`.trim(),
  };
  if (!(response.headers.get('content-type') ?? '').includes('json')) return plain;
  try {
    const body = (await response.json()) as Partial<Problem>;
    return {
      ...plain,
      code: body.code ?? plain.code,
      detail: body.detail ?? body.title ?? plain.detail,
      ...(body.errors ? { errors: body.errors } : {}),
    };
  } catch {
    return plain;
  }
}

export class Api {
  /** Bearer token of the session, or null before a log-in. */
  token: string | null = null;
  /** Called when the service refuses the token in the middle of a session. */
  onUnauthorised: () => void = () => undefined;

  /** Sends a request and answers with the response when it is a success. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const url = new URL(path.startsWith('/') ? `${PREFIX}${path}` : path, window.location.origin);
    for (const [key, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const headers = new Headers(options.headers);
    if (this.token) headers.set('Authorization', `Bearer ${this.token}`);
    let body = options.body ?? null;
    if (options.json !== undefined) {
      headers.set('Content-Type', 'application/json');
      body = JSON.stringify(options.json);
    }
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers,
        body,
        signal: options.signal ?? null,
        keepalive: options.keepalive ?? false,
      });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ApiError(OFFLINE);
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status === 401 && this.token !== null) this.onUnauthorised();
    throw new ApiError(problem);
  }

  /** Sends a request and reads the JSON answer. */
  async json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.send(method, path, options);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** Path under which `url`, as an answer names it, is asked for again. */
  static pathOf(url: string): string {
    return url.startsWith(PREFIX) ? url.slice(PREFIX.length) : url;
  }
}

/** The revision in an `ETag`, or null when there is none. */
export function revisionOfEtag(etag: string | null): number | null {
  const match = /^(?:W\/)?"(\d+)"$/.exec(etag ?? '');
  return match ? Number(match[1]) : null;
}
