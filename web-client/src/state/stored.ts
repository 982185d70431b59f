/** Values remembered in this browser. Where storage is refused they last as long as the page. */

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

/** Remembers a value; `null` forgets it. Answers whether the browser took it. */
export function writeStored(key: string, value: unknown): boolean {
  try {
    if (value === null) localStorage.removeItem(`songfoundry.${key}`);
    else localStorage.setItem(`songfoundry.${key}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
