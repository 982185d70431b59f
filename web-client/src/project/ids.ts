/**
 * Makes an identifier: `prefix-` and 16 hexadecimal digits. It works on insecure pages too, which
 * lack `crypto.randomUUID`.
 */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${prefix}-${digits}`;
}
