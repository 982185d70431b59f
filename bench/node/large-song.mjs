// Makes a large song for measurements of the page.

const TICKS_PER_BAR = 3840;

/** Returns a project with some tracks, some clips on each track, and some notes in each clip. */
export function largeSong({ tracks = 100, clipsEach = 50, notesEach = 4 } = {}) {
  const noteTicks = TICKS_PER_BAR / notesEach;
  const clip = (track, index) => ({
    type: 'midi',
    id: `clip-${track}-${index}`,
    start_tick: index * TICKS_PER_BAR,
    length_ticks: TICKS_PER_BAR,
    notes: Array.from({ length: notesEach }, (_, note) => ({
      tick: Math.round(note * noteTicks),
      length_ticks: Math.round(noteTicks * 0.9),
      pitch: 36 + ((track * 7 + index * 3 + note * 5) % 48),
      velocity: 0.2 + ((track + index + note) % 6) / 10,
    })),
    controls: [],
  });
  return {
    schema_version: 1,
    project_id: 'large',
    name: 'Large song',
    tempo_map: [{ tick: 0, bpm: 120 }],
    time_signatures: [{ tick: 0, numerator: 4, denominator: 4 }],
    tracks: Array.from({ length: tracks }, (_, track) => ({
      id: `track-${track}`,
      name: `Track ${track + 1}`,
      kind: 'instrument',
      volume_db: -24,
      synth_engine: { type: 'soundfont', bank: 0, program: track % 8 },
      items: Array.from({ length: clipsEach }, (_, index) => clip(track, index)),
    })),
  };
}
