import { FONT_NUMBERS, palette } from './palette';

/** Frequencies at the left and at the right edge of the drawing, in hertz. */
const LOW_HZ = 20;
const HIGH_HZ = 20_000;
/** Gain at the upper edge of the drawing, in decibels. At the lower edge it is the negative. */
const TOP_DB = 24;
/** Frequencies that have a label. */
const NAMED_HZ: readonly (readonly [hertz: number, name: string])[] = [
  [100, '100'],
  [1000, '1k'],
  [10_000, '10k'],
];

export function xOfFrequency(hertz: number, widthPx: number): number {
  return (Math.log(hertz / LOW_HZ) / Math.log(HIGH_HZ / LOW_HZ)) * widthPx;
}

export function frequencyAtX(x: number, widthPx: number): number {
  return LOW_HZ * (HIGH_HZ / LOW_HZ) ** (x / widthPx);
}

export function yOfGain(db: number, heightPx: number): number {
  return (1 - db / TOP_DB) * (heightPx / 2);
}

export function gainAtY(y: number, heightPx: number): number {
  return (1 - y / (heightPx / 2)) * TOP_DB;
}

export type ResponseScene = {
  /** Gain in decibels for each pixel column; null if the engine is not running. */
  response: Float64Array | null;
  handles: readonly { x: number; y: number; isOn: boolean; isHovered: boolean }[];
  hue: string;
};

/** Draws the response of an equalizer, a grid of frequencies and gains, and a handle per band. */
export function drawResponse(context: CanvasRenderingContext2D, scene: ResponseScene, widthPx: number, heightPx: number): void {
  context.font = FONT_NUMBERS;
  for (const db of [-12, 0, 12]) {
    context.fillStyle = db === 0 ? palette().line : palette().lineSoft;
    context.fillRect(0, Math.round(yOfGain(db, heightPx)), widthPx, 1);
    context.fillStyle = palette().muted;
    if (db !== 0) context.fillText(db > 0 ? `+${db}` : `\u2212${-db}`, 3, yOfGain(db, heightPx) - 3);
  }
  for (const [hertz, name] of NAMED_HZ) {
    const x = Math.round(xOfFrequency(hertz, widthPx));
    context.fillStyle = palette().lineSoft;
    context.fillRect(x, 0, 1, heightPx);
    context.fillStyle = palette().muted;
    context.fillText(name, x + 3, heightPx - 4);
  }
  if (scene.response) drawCurve(context, scene.response, scene.hue, widthPx, heightPx);
  for (const { x, y, isOn, isHovered } of scene.handles) {
    context.beginPath();
    context.arc(x, Math.min(heightPx - 6, Math.max(6, y)), isHovered ? 6 : 4.5, 0, 2 * Math.PI);
    context.fillStyle = isHovered ? palette().text : isOn ? scene.hue : palette().line;
    context.fill();
    context.strokeStyle = palette().ground;
    context.lineWidth = 1.5;
    context.stroke();
  }
}

function drawCurve(context: CanvasRenderingContext2D, response: Float64Array, hue: string, widthPx: number, heightPx: number): void {
  context.beginPath();
  response.forEach((db, x) => {
    const y = yOfGain(db, heightPx);
    if (x === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.strokeStyle = hue;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(widthPx, yOfGain(0, heightPx));
  context.lineTo(0, yOfGain(0, heightPx));
  context.globalAlpha = 0.12;
  context.fillStyle = hue;
  context.fill();
  context.globalAlpha = 1;
}
