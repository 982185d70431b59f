/** Draws the keyboard at the left of the piano roll, or the names of a drum kit's keys. */
import { drumName } from '../project/drum-names';
import { isBlackKey, keyName } from '../project/format';
import { visibleKeys, yOfKey, type KeyView } from './key-view';
import { FONT_NUMBERS, FONT_SMALL, palette } from './palette';

/** Height of a row from which a key can be named, in pixels. */
const NAMED_ROW_PX = 8;
/** Width of the black keys as a part of the white ones. */
const BLACK_KEY_PART = 0.62;

/** Draws the keys as those of a piano; `pressedKeys` are highlighted. */
export function drawKeys(context: CanvasRenderingContext2D, keyView: KeyView, pressedKeys: ReadonlySet<number>, widthPx: number, heightPx: number): void {
  for (const key of visibleKeys(keyView, heightPx)) {
    const y = yOfKey(keyView, key);
    context.fillStyle = pressedKeys.has(key) ? palette().accent : palette().ivory;
    context.fillRect(0, y, widthPx, keyView.rowPx);
    if (isBlackKey(key)) {
      context.fillStyle = pressedKeys.has(key) ? palette().accent : palette().ebony;
      context.fillRect(0, y, widthPx * BLACK_KEY_PART, keyView.rowPx);
      context.fillStyle = palette().ivoryLine;
      context.fillRect(widthPx * BLACK_KEY_PART, Math.round(y + keyView.rowPx / 2), widthPx * (1 - BLACK_KEY_PART), 1);
    }
    if (key % 12 === 0 || key % 12 === 5) {
      context.fillStyle = palette().ivoryLine;
      context.fillRect(0, Math.round(y + keyView.rowPx) - 1, widthPx, 1);
    }
    if (key % 12 === 0 && keyView.rowPx >= NAMED_ROW_PX) {
      context.fillStyle = palette().keyName;
      context.font = FONT_NUMBERS;
      context.textAlign = 'right';
      context.fillText(keyName(key), widthPx - 4, y + keyView.rowPx - 2);
      context.textAlign = 'left';
    }
  }
}

/** Draws a row for each key with the name of its drum; `pressedKeys` are highlighted. */
export function drawDrumKeys(context: CanvasRenderingContext2D, keyView: KeyView, pressedKeys: ReadonlySet<number>, widthPx: number, heightPx: number): void {
  context.font = FONT_SMALL;
  for (const key of visibleKeys(keyView, heightPx)) {
    const y = yOfKey(keyView, key);
    const isPressed = pressedKeys.has(key);
    context.fillStyle = isPressed ? palette().accent : palette().raised;
    context.fillRect(0, y, widthPx, keyView.rowPx - 1);
    if (keyView.rowPx < NAMED_ROW_PX) continue;
    context.fillStyle = isPressed ? palette().ground : palette().muted;
    context.fillText(drumName(key) ?? keyName(key), 5, y + keyView.rowPx / 2 + 3.5, widthPx - 9);
  }
}
