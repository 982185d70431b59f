/**
 * Makes a random id: the prefix, a hyphen and 16 hexadecimal digits. It does not use
 * `crypto.randomUUID`, because browsers do not offer that on pages without HTTPS.
 */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${prefix}-${digits}`;
}
