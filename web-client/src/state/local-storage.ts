/** Values stored in this browser. If the browser refuses storage, nothing is stored. */

export function readStored<T>(key: string, fallback: T, valid: (value: unknown) => value is T): T {
  try {
    const text = localStorage.getItem(`songfoundry.${key}`);
    if (text === null) return fallback;
    const value: unknown = JSON.parse(text);
    return valid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Stores a value; `null` removes it. */
export function writeStored(key: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(`songfoundry.${key}`);
    else localStorage.setItem(`songfoundry.${key}`, JSON.stringify(value));
  } catch {
    // The browser refuses storage; the value is lost with the page.
  }
}

export function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
