/**
 * Requests to the service: typed by its OpenAPI document, with authorisation, and failures as one
 * kind of error.
 */
import createClient, { type Client, type Middleware } from 'openapi-fetch';

import type { paths } from './generated/schema';
import type { Problem } from './types';

/** A failure: a problem that the service describes, or a substitute for one. */
export type Failure = Pick<Problem, 'status' | 'code' | 'detail' | 'errors'> & { retryAfterSecs?: number };

/** An answer that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: NonNullable<Problem['errors']>;
  /** Seconds of `Retry-After`: the delay that the service asks for; 0 without one. */
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

/** The reason of any failure, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The failure of a request without an answer. */
export const UNREACHABLE: Failure = {
  status: 0,
  code: 'unreachable',
  detail: 'the service does not answer; check that it still runs and try again.',
};

/** The failure of an answer; its body may come from a proxy instead of the service. */
export function failureOf(status: number, statusText: string, body: string): Failure {
  const plain: Failure = {
    status,
    code: `http_${status}`,
    detail: `the service answered ${status} ${statusText}`.trim(),
  };
  try {
    const { code, detail, title, errors } = JSON.parse(body) as Partial<Problem>;
    return { ...plain, code: code ?? plain.code, detail: detail ?? title ?? plain.detail, ...(errors ? { errors } : {}) };
  } catch {
    return plain;
  }
}

/** The seconds of a `Retry-After`; 0 without one and for dates. */
function secsOf(retryAfter: string | null): number {
  return /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
}

export class Api {
  /** Bearer token of the session, or null before a log-in. */
  token: string | null = null;
  /** Called when the service refuses the token in the middle of a session. */
  onUnauthorised: () => void = () => undefined;
  /** The operations of the service. Failures are thrown as {@link ApiError}. */
  readonly call: Client<paths>;

  /** `origin` is the service's; the page comes from there. */
  constructor(origin = '') {
    // `fetch` is looked up at each call, so that tests can replace it.
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
        const failure = failureOf(response.status, response.statusText, await response.text());
        if (response.status === 401 && this.token !== null) this.onUnauthorised();
        throw new ApiError({ ...failure, retryAfterSecs: secsOf(response.headers.get('Retry-After')) });
      },
      // A cancelled request keeps its AbortError.
      onError: ({ request }) => (request.signal.aborted ? undefined : new ApiError(UNREACHABLE)),
    };
  }
}

type Answered<T> = { data?: T; response: Response };

/** The body of a successful answer. */
export async function bodyOf<T>(answered: Promise<Answered<T>>): Promise<T> {
  return (await answered).data as T;
}

/**
 * The answer itself, for its headers or a streamed body; the request must use {@link UNREAD_BODY}.
 */
export async function answerOf(answered: Promise<Answered<unknown>>): Promise<Response> {
  return (await answered).response;
}

/** Leaves the body of an answer unread, for {@link answerOf}. */
export const UNREAD_BODY = { parseAs: 'stream' } as const;

/** The revision in an `ETag`, null without one. */
export function revisionOfEtag(etag: string | null): number | null {
  const match = /^(?:W\/)?"(\d+)"$/.exec(etag ?? '');
  return match ? Number(match[1]) : null;
}
