/** The state of a request that a form or a button sends: its progress and its error message. */
import { reasonOf } from '../api/client';

type SubmissionState = { kind: 'idle' } | { kind: 'running' } | { kind: 'failed'; problem: string };

export class Submission {
  #state = $state.raw<SubmissionState>({ kind: 'idle' });
  readonly #describe: (error: unknown) => string;

  /** `describe` returns the error message for a failure, by default {@link reasonOf}. */
  constructor(describe: (error: unknown) => string = reasonOf) {
    this.#describe = describe;
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running';
  }

  /** The error message of the last attempt; empty if it succeeded. */
  get problem(): string {
    return this.#state.kind === 'failed' ? this.#state.problem : '';
  }

  /** Calls `send` and waits for the result. An exception of `send` becomes the error message. */
  async submit(send: () => Promise<void>): Promise<void> {
    this.#state = { kind: 'running' };
    try {
      await send();
      this.#state = { kind: 'idle' };
    } catch (error) {
      this.fail(this.#describe(error));
    }
  }

  /** Shows an error message without a request. */
  fail(problem: string): void {
    this.#state = { kind: 'failed', problem };
  }

  /** Removes the error message. */
  reset(): void {
    if (this.#state.kind === 'failed') this.#state = { kind: 'idle' };
  }
}
