import { gridLines } from '../project/grid';
import { loopOf } from '../project/loop';
import type { Project } from '../project/model';
import { FONT_NUMBERS, FONT_SMALL, palette, withAlpha } from './palette';
import type { TimeView } from './time-view.svelte';

/** Height of the band at the top of the ruler, in which the loop is drawn and dragged. */
export const LOOP_BAND_PX = 13;

/** Minimum distance between bar numbers, in pixels. */
const MIN_NUMBER_PX = 54;

/** The name of a marker or a section, and the tick at which it starts. */
type RulerName = { tick: number; name: string };

/** Returns the names of markers and sections, sorted by tick. */
function namesOf(project: Project): RulerName[] {
  const sections = project.tracks.flatMap((track) =>
    track.items.flatMap((item) => (item.type === 'section' ? [{ tick: item.start_tick, name: item.name ?? '' }] : [])),
  );
  const names = [...project.markers, ...sections].filter((entry) => entry.name !== '');
  // If a section begins at a marker of the same name, the ruler shows the name once.
  const uniqueNames = new Map(names.map((entry) => [`${entry.tick} ${entry.name}`, entry]));
  return [...uniqueNames.values()].sort((first, second) => first.tick - second.tick);
}

/** Draws the loop and the bar numbers and, with `showsNames`, the names of markers and sections. */
export function drawRuler(
  context: CanvasRenderingContext2D,
  view: TimeView,
  project: Project,
  widthPx: number,
  heightPx: number,
  showsNames: boolean,
): void {
  drawLoop(context, view, project);
  const names = showsNames ? namesOf(project) : [];
  const numberY = names.length > 0 || loopOf(project) ? heightPx - 5 : heightPx / 2 + 4;
  context.font = FONT_NUMBERS;
  const lines = gridLines(project.time_signatures, view.startTick, view.endTick, 0, 9 * view.ticksPerPx);
  let lastNumberX = -Infinity;
  for (const line of lines) {
    const x = Math.round(view.x(line.tick));
    const hasNumber = line.level === 'bar' && x - lastNumberX >= MIN_NUMBER_PX;
    context.fillStyle = palette().line;
    context.fillRect(x, hasNumber ? heightPx - 14 : heightPx - 5, 1, hasNumber ? 14 : 5);
    if (!hasNumber) continue;
    context.fillStyle = palette().muted;
    context.fillText(String(line.bar), x + 4, numberY);
    lastNumberX = x;
  }
  context.font = FONT_SMALL;
  names.forEach((entry, index) => {
    const x = Math.round(view.x(entry.tick));
    const nextName = names[index + 1];
    const availablePx = (nextName ? view.x(nextName.tick) : widthPx) - x - 12;
    if (x > widthPx || x + availablePx < 0 || availablePx < 12) return;
    context.fillStyle = palette().accent;
    context.fillRect(x, 2, 2, 11);
    context.save();
    context.beginPath();
    context.rect(x + 6, 0, availablePx, 16);
    context.clip();
    context.fillStyle = palette().text;
    context.fillText(entry.name, x + 6, 11);
    context.restore();
  });
}

/** Draws the loop as a bar with a brace at each end; grey if the loop is switched off. */
function drawLoop(context: CanvasRenderingContext2D, view: TimeView, project: Project): void {
  const loop = loopOf(project);
  if (!loop) return;
  const [start, end] = [Math.round(view.x(loop.startTick)), Math.round(view.x(loop.endTick))];
  const color = loop.active ? palette().accent : palette().muted;
  context.fillStyle = withAlpha(color, loop.active ? 0.34 : 0.2);
  context.fillRect(start, 0, end - start, LOOP_BAND_PX);
  context.fillStyle = color;
  for (const [x, direction] of [
    [start, 1],
    [end, -1],
  ] as const) {
    const left = direction === 1 ? x : x - 2;
    context.fillRect(left, 0, 2, LOOP_BAND_PX);
    context.fillRect(direction === 1 ? x : x - 5, 0, 5, 2);
    context.fillRect(direction === 1 ? x : x - 5, LOOP_BAND_PX - 2, 5, 2);
  }
}
