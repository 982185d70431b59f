/** Stores values in this browser. If the browser refuses storage, nothing is stored. */

/** Returns the stored value, or `fallback` if there is none or `isValid` rejects it. */
export function readStored<T>(storageKey: string, fallback: T, isValid: (value: unknown) => value is T): T {
  try {
    const text = localStorage.getItem(`songfoundry.${storageKey}`);
    if (text === null) return fallback;
    const value: unknown = JSON.parse(text);
    return isValid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Stores a value; `null` removes the stored value. */
export function writeStored(storageKey: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(`songfoundry.${storageKey}`);
    else localStorage.setItem(`songfoundry.${storageKey}`, JSON.stringify(value));
  } catch {
    // The browser refuses storage, so the value is lost when the page is closed.
  }
}

/** Returns the value that this tab stored and `isValid` accepts, or null. */
export function readTabStored<T>(storageKey: string, isValid: (value: unknown) => value is T): T | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(`songfoundry.${storageKey}`) ?? 'null');
    return isValid(value) ? value : null;
  } catch {
    return null;
  }
}

/** Stores a value until the tab is closed. */
export function writeTabStored(storageKey: string, value: unknown): void {
  try {
    sessionStorage.setItem(`songfoundry.${storageKey}`, JSON.stringify(value));
  } catch {
    // The browser refuses storage, so the value is lost when the page is loaded again.
  }
}

export function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
