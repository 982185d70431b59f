/**
 * Sends requests to the service. Their types come from the service's OpenAPI document, and each
 * request carries the session's token. A failed request throws an {@link ApiError}, but one that
 * the page cancelled throws an `AbortError`.
 */
import createClient, { type Client, type Middleware } from 'openapi-fetch';

import type { paths } from './generated/schema';
import type { Problem } from './types';

/** Describes a failed request, from the service's problem document or from the HTTP status. */
export type Failure = Pick<Problem, 'status' | 'code' | 'detail' | 'errors'> & { retryAfterSecs?: number };

/** The error of a request with an unsuccessful answer, or without any answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: NonNullable<Problem['errors']>;
  /** Seconds to wait before a retry, from the header `Retry-After`; 0 without that header. */
  readonly retryAfterSecs: number;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = 'ApiError';
    this.status = failure.status;
    this.code = failure.code;
    this.errors = failure.errors ?? [];
    this.retryAfterSecs = failure.retryAfterSecs ?? 0;
  }
}

/** Returns the message of an error with a full stop, for the end of a sentence. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The failure of a request that got no answer. */
export const UNREACHABLE: Failure = {
  status: 0,
  code: 'unreachable',
  detail: 'The service does not answer; check that it still runs and try again.',
};

/**
 * Returns the failure that an unsuccessful answer describes. A proxy may have sent the answer, so
 * the body need not be a problem document.
 */
export function failureOf(status: number, statusText: string, body: string): Failure {
  const fallback: Failure = {
    status,
    code: `http_${status}`,
    detail: `The service answered with the error ${`${status} ${statusText}`.trim()}; try again later.`,
  };
  try {
    const { code, detail, title, errors } = JSON.parse(body) as Partial<Problem>;
    return { ...fallback, code: code ?? fallback.code, detail: detail ?? title ?? fallback.detail, ...(errors ? { errors } : {}) };
  } catch {
    return fallback;
  }
}

/** Code of the service's answer to a path that it does not have. */
const NO_SUCH_PATH = 'no_such_path';

/**
 * Explains the failure of an operation that the service does not have: only a page of another
 * version asks for one.
 */
function explained(failure: Failure): Failure {
  if (failure.code !== NO_SUCH_PATH) return failure;
  return { ...failure, detail: 'This page and the service have different versions; restart the service, then reload the page.' };
}

/** Reads the seconds in a `Retry-After` header; 0 if there is no header or if it has a date. */
function retryAfterSecsOf(retryAfter: string | null): number {
  return /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
}

export class Api {
  /** Bearer token of the session, or null before a log-in. */
  token: string | null = null;
  /** Called when the service answers 401 although the request carried a token. */
  onUnauthorized: () => void = () => undefined;
  /** The operations of the service. They throw failures as {@link ApiError}. */
  readonly call: Client<paths>;

  /** `origin` is the address of the service. The default is the address of the page. */
  constructor(origin = '') {
    // Each request looks up the global `fetch` again, because tests replace it.
    this.call = createClient<paths>({ baseUrl: origin, fetch: (request) => fetch(request) });
    this.call.use(this.#middleware());
  }

  #middleware(): Middleware {
    return {
      onRequest: ({ request }) => {
        if (this.token) request.headers.set('Authorization', `Bearer ${this.token}`);
      },
      onResponse: async ({ response }) => {
        if (response.ok) return;
        const failure = explained(failureOf(response.status, response.statusText, await response.text()));
        if (response.status === 401 && this.token !== null) this.onUnauthorized();
        throw new ApiError({ ...failure, retryAfterSecs: retryAfterSecsOf(response.headers.get('Retry-After')) });
      },
      // A request that the page cancelled fails with its own AbortError.
      onError: ({ request }) => (request.signal.aborted ? undefined : new ApiError(UNREACHABLE)),
    };
  }
}

type CallResult<T> = { data?: T; response: Response };

/** Returns the body of a successful answer. */
export async function bodyOf<T>(result: Promise<CallResult<T>>): Promise<T> {
  return (await result).data as T;
}

/**
 * Returns the answer itself, for callers that need its headers or stream its body. The request must
 * use {@link UNREAD_BODY}.
 */
export async function answerOf(result: Promise<CallResult<unknown>>): Promise<Response> {
  return (await result).response;
}

/** Request options that leave the body of the answer unread, for {@link answerOf}. */
export const UNREAD_BODY = { parseAs: 'stream' } as const;

/** Reads the revision in an `ETag` header; null without one. */
export function revisionOfEtag(etag: string | null): number | null {
  const match = /^(?:W\/)?"(\d+)"$/.exec(etag ?? '');
  return match ? Number(match[1]) : null;
}
