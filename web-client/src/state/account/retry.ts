/** Decides whether and when a failed request is repeated. */
import { ApiError } from '../../api/client';

/** Delay before the second attempt, in seconds. It doubles before each further attempt. */
const FIRST_DELAY_SECS = 1;
/** Maximum of the doubled delay, in seconds. */
const LONGEST_DELAY_SECS = 30;

/**
 * Whether another attempt may succeed: the service did not answer, received too many requests
 * (429), or has a fault (5xx).
 */
export function isTemporary(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/**
 * Returns the seconds to wait after `failures` failed attempts in a row. The `Retry-After` of the
 * service can make the delay longer.
 */
export function retryDelaySecs(failures: number, error: ApiError): number {
  return Math.max(Math.min(FIRST_DELAY_SECS * 2 ** (failures - 1), LONGEST_DELAY_SECS), error.retryAfterSecs);
}
