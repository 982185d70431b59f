/** When a request that failed is sent again. */
import { ApiError } from '../api/client';

/** Wait before the second attempt and longest wait, in seconds; between them it doubles. */
const FIRST_WAIT_SECS = 1;
const LONGEST_WAIT_SECS = 30;

/**
 * Whether another attempt may succeed: nobody answered, there were too many requests, or the
 * service had a fault.
 */
export function mayPass(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Seconds to wait after `failures` failures in a row; longer where the service says so. */
export function waitSecs(failures: number, error: ApiError): number {
  return Math.max(Math.min(FIRST_WAIT_SECS * 2 ** (failures - 1), LONGEST_WAIT_SECS), error.retryAfterSecs);
}
