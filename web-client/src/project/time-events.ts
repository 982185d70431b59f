/** The events of the lanes above the arrangement: tempo changes, time signatures and markers. */
import { parseSignature } from './edit-tracks';
import { parseNumber } from './format';
import { barPositionAt, signatureAt, tickOfBarPosition, ticksPerBarAt } from './grid';
import { TICK_MAX, type Project } from './model';
import { bpmAt } from './tempo';

export type TimeEventKind = 'tempo' | 'signature' | 'marker';

/**
 * An event as a lane shows it. The first tempo and the first time signature are `fixed` at tick 0.
 */
export type TimeEvent = { tick: number; text: string; fixed: boolean };

type Timed = { tick: number };

/**
 * The events that a lane shows and edits. `noun` is the name of an event in labels and in the
 * history.
 */
export type TimeEventLane = {
  kind: TimeEventKind;
  title: string;
  noun: string;
  /** Description of valid texts, for the message about a text that is not valid. */
  hint: string;
  events: (project: Project) => TimeEvent[];
  /** Rounds a tick to a position at which an event can be. `isFree` ignores the grid. */
  snap: (project: Project, tick: number, isFree: boolean) => number;
  /** Inserts an event at a tick. Without a change, there is one at this tick already. */
  insert: (project: Project, tick: number) => Project;
  /** Sets the text of an event; returns null if the text is not valid. */
  setText: (project: Project, index: number, text: string) => Project | null;
  /** Moves an event to a tick. Without a change, it cannot be moved there. */
  move: (project: Project, index: number, tick: number) => Project;
  remove: (project: Project, index: number) => Project;
};

function isAt(events: readonly Timed[], tick: number): boolean {
  return events.some((event) => event.tick === tick);
}

function sorted<T extends Timed>(events: T[]): T[] {
  return events.sort((first, second) => first.tick - second.tick);
}

/** Returns the events with one of them moved; null if it is fixed or another one is at the tick. */
function moved<T extends Timed>(events: readonly T[], index: number, tick: number, firstIsFixed: boolean): T[] | null {
  const event = events[index];
  if (!event || event.tick === tick || (firstIsFixed && (index === 0 || tick <= 0)) || isAt(events, tick)) return null;
  return sorted(events.map((otherEvent, i) => (i === index ? { ...event, tick } : otherEvent)));
}

function replaced<T extends Timed>(events: readonly T[], index: number, change: Partial<T>): T[] {
  return events.map((event, i) => (i === index ? { ...event, ...change } : event));
}

const clampTick = (tick: number): number => Math.min(TICK_MAX, Math.max(0, Math.round(tick)));

function snapToBeat(project: Project, tick: number, isFree: boolean): number {
  if (isFree) return clampTick(tick);
  const signatures = project.time_signatures;
  const position = barPositionAt(signatures, tick);
  const beatTick = tickOfBarPosition(signatures, { ...position, tick: 0 });
  const nextTick = tickOfBarPosition(signatures, { ...position, beat: position.beat + 1, tick: 0 });
  return clampTick(tick - beatTick < nextTick - tick ? beatTick : nextTick);
}

/** A time signature starts a bar, so it is always at one. */
function snapToBar(project: Project, tick: number): number {
  const signatures = project.time_signatures;
  const barTick = tickOfBarPosition(signatures, { bar: barPositionAt(signatures, tick).bar, beat: 1, tick: 0 });
  const barTicks = ticksPerBarAt(signatures, barTick);
  return clampTick(tick - barTick < barTicks / 2 ? barTick : barTick + barTicks);
}

const TEMPO: TimeEventLane = {
  kind: 'tempo',
  title: 'Tempo',
  noun: 'tempo change',
  hint: 'a number of quarter notes a minute from 1 to 999, such as 120',
  events: ({ tempo_map }) => tempo_map.map(({ tick, bpm }, index) => ({ tick, text: String(Math.round(bpm * 100) / 100), fixed: index === 0 })),
  snap: snapToBeat,
  insert: (project, tick) =>
    isAt(project.tempo_map, tick)
      ? project
      : { ...project, tempo_map: sorted([...project.tempo_map, { tick, bpm: bpmAt(project.tempo_map, tick) }]) },
  setText: (project, index, text) => {
    const bpm = parseNumber(text);
    if (bpm === null || bpm < 1 || bpm > 999) return null;
    return { ...project, tempo_map: replaced(project.tempo_map, index, { bpm: Math.round(bpm * 100) / 100 }) };
  },
  move: (project, index, tick) => {
    const tempo_map = moved(project.tempo_map, index, tick, true);
    return tempo_map ? { ...project, tempo_map } : project;
  },
  remove: (project, index) => (index === 0 ? project : { ...project, tempo_map: project.tempo_map.toSpliced(index, 1) }),
};

const SIGNATURE: TimeEventLane = {
  kind: 'signature',
  title: 'Signature',
  noun: 'time signature',
  hint: 'two numbers, such as 3/4',
  events: ({ time_signatures }) =>
    time_signatures.map(({ tick, numerator, denominator }, index) => ({ tick, text: `${numerator}/${denominator}`, fixed: index === 0 })),
  snap: snapToBar,
  insert: (project, tick) => {
    if (isAt(project.time_signatures, tick)) return project;
    const signature = { ...signatureAt(project.time_signatures, tick), tick };
    return { ...project, time_signatures: sorted([...project.time_signatures, signature]) };
  },
  setText: (project, index, text) => {
    const signature = parseSignature(text);
    return signature && { ...project, time_signatures: replaced(project.time_signatures, index, signature) };
  },
  move: (project, index, tick) => {
    const time_signatures = moved(project.time_signatures, index, tick, true);
    return time_signatures ? { ...project, time_signatures } : project;
  },
  remove: (project, index) => (index === 0 ? project : { ...project, time_signatures: project.time_signatures.toSpliced(index, 1) }),
};

/** Longest name of a marker that the project schema allows, in characters. */
const MARKER_NAME_MAX = 500;

const MARKER: TimeEventLane = {
  kind: 'marker',
  title: 'Markers',
  noun: 'marker',
  hint: `a name of at most ${MARKER_NAME_MAX} characters`,
  events: ({ markers }) => markers.map(({ tick, name }) => ({ tick, text: name, fixed: false })),
  snap: snapToBeat,
  insert: (project, tick) =>
    isAt(project.markers, tick)
      ? project
      : { ...project, markers: sorted([...project.markers, { tick, name: `Marker ${project.markers.length + 1}` }]) },
  setText: (project, index, text) =>
    text.length > MARKER_NAME_MAX ? null : { ...project, markers: replaced(project.markers, index, { name: text }) },
  move: (project, index, tick) => {
    const markers = moved(project.markers, index, tick, false);
    return markers ? { ...project, markers } : project;
  },
  remove: (project, index) => ({ ...project, markers: project.markers.toSpliced(index, 1) }),
};

/** The lanes, from top to bottom. */
export const TIME_EVENT_LANES: readonly TimeEventLane[] = [TEMPO, SIGNATURE, MARKER];
