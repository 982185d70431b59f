/** Parts of the page whose scripts are loaded after the page, or when they are first shown. */
import type { Component } from 'svelte';

/** A module that has a component as its default export. */
type ComponentModule<Props extends object> = { default: Component<Props> };

/** A component with the properties `Props`, and its script. */
export class LazyPart<Props extends object = Record<string, never>> {
  /** Name of the part at the start of a sentence. */
  readonly name: string;
  readonly #importModule: () => Promise<ComponentModule<Props>>;
  #loaded: Component<Props> | null = null;
  #loading: Promise<Component<Props>> | null = null;

  constructor(name: string, importModule: () => Promise<ComponentModule<Props>>) {
    this.name = name;
    this.#importModule = importModule;
  }

  /** The component; null before it is loaded. */
  get loaded(): Component<Props> | null {
    return this.#loaded;
  }

  /** Loads the component once. A call after a failure tries again. */
  load(): Promise<Component<Props>> {
    this.#loading ??= this.#import().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  async #import(): Promise<Component<Props>> {
    const { default: component } = await this.#importModule();
    this.#loaded = component;
    return component;
  }
}

/** Maximum time to wait for an idle page, in milliseconds. */
const IDLE_MAX_MS = 5000;

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no requestIdleCallback.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve(), { timeout: IDLE_MAX_MS });
    else setTimeout(resolve, IDLE_MAX_MS);
  });
}

/** Loads parts one after the other while the page is idle. A failure is reported on use. */
export async function loadWhenIdle(parts: readonly { load: () => Promise<unknown> }[]): Promise<void> {
  for (const part of parts) {
    await idle();
    await part.load().catch(() => undefined);
  }
}
