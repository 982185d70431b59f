/** Cover pictures of exported files. */

/** Maximum size of a picture, in bytes. */
const MAX_BYTES = 1 << 20;
/** Longer sides, in pixels, to which larger pictures are reduced, in the order of the attempts. */
const SIDES_PX = [1_400, 1_000, 600];

/**
 * Returns a picture in base64: a JPEG or PNG file of at most `MAX_BYTES` bytes unchanged, any other
 * picture as a JPEG file. Rejects if the browser cannot read the picture or cannot reduce it
 * enough.
 */
export async function coverOf(file: Blob): Promise<string> {
  if (/^image\/(jpeg|png)$/.test(file.type) && file.size <= MAX_BYTES) return base64Of(file);
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) throw new Error('it is not a picture that this browser can read');
  for (const side of SIDES_PX) {
    const reducedPicture = await jpegOf(picture, side);
    if (reducedPicture.size <= MAX_BYTES) return base64Of(reducedPicture);
  }
  throw new Error(`it has more than ${MAX_BYTES} bytes even after its longer side is reduced to 600 pixels; choose another picture`);
}

/** Returns the address of a picture in base64, for an image element. */
export function urlOf(base64: string): string {
  // A PNG file begins with these letters in base64.
  return `data:image/${base64.startsWith('iVBOR') ? 'png' : 'jpeg'};base64,${base64}`;
}

async function jpegOf(picture: ImageBitmap, sidePx: number): Promise<Blob> {
  const scale = Math.min(1, sidePx / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(Math.max(1, picture.width * scale), Math.max(1, picture.height * scale));
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser cannot reduce pictures; choose a JPEG or PNG file of at most 1 MiB');
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}

async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  // Some browsers limit the number of arguments of a call.
  for (let start = 0; start < bytes.length; start += 8_192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8_192));
  }
  return btoa(text);
}
