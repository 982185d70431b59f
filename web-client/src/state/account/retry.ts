/** Repeating requests that failed. */
import { ApiError } from '../../api/client';

/** Delay before the second attempt and longest delay, in seconds; in between it doubles. */
const FIRST_DELAY_SECS = 1;
const LONGEST_DELAY_SECS = 30;

/** Whether another attempt may succeed: no answer, too many requests, or a fault of the service. */
export function isTemporary(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Seconds to wait after `failures` failures in a row; longer if the service asks for it. */
export function retryDelaySecs(failures: number, error: ApiError): number {
  return Math.max(Math.min(FIRST_DELAY_SECS * 2 ** (failures - 1), LONGEST_DELAY_SECS), error.retryAfterSecs);
}
