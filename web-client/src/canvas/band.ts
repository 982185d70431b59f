/** A part of a canvas over its whole width, in pixels from its top. */
export type Band = { topPx: number; bottomPx: number };

/**
 * Returns the pixels of the screen that a band touches, so that no edge of it is half drawn.
 * `scale` is the number of pixels of the screen for each pixel of the page.
 */
export function outwards({ topPx, bottomPx }: Band, scale: number): Band {
  return { topPx: Math.floor(topPx * scale) / scale, bottomPx: Math.ceil(bottomPx * scale) / scale };
}
