/** How large the picture of a plugin's window is drawn. */

type Size = { width: number; height: number };

/** How much smaller than possible a picture may be so that its pixels stay whole. */
const SMALLER_MIN = 0.75;

/**
 * Returns the CSS pixels for each pixel of a picture, and whether each pixel covers a whole number
 * of the screen's pixels. Such pictures are drawn without blur. Pictures get about the size that the
 * plugin asks for, times `zoom`, and are made smaller only if `room` is.
 */
export function pictureScale(picture: Size, room: Size, devicePixelRatio: number, zoom: number): { scale: number; isSharp: boolean } {
  const fitting = Math.max(0.05, Math.min(room.width / picture.width, room.height / picture.height));
  const wanted = Math.max(1, Math.round(devicePixelRatio * zoom));
  const scale = Math.min(fitting, wanted / devicePixelRatio);
  // The small number makes up for the rounding of the quotient.
  const whole = Math.floor(scale * devicePixelRatio + 1e-6) / devicePixelRatio;
  return whole > 0 && whole >= SMALLER_MIN * scale ? { scale: whole, isSharp: true } : { scale, isSharp: false };
}
