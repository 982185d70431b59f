/** Returns a song with 40 tracks of 30 clips, to look at. */
export function largeSong(): object {
  const TICKS_PER_BAR = 3840;
  const clip = (track: number, index: number): object => ({
    type: 'midi',
    id: `clip-${track}-${index}`,
    start_tick: index * TICKS_PER_BAR,
    length_ticks: TICKS_PER_BAR,
    notes: [0, 1, 2, 3].map((note) => ({ tick: note * 960, length_ticks: 860, pitch: 40 + ((track * 7 + index * 3 + note * 5) % 40), velocity: 0.7 })),
    controls: [],
  });
  const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  return {
    schema_version: 1,
    project_id: 'large-pictures',
    name: 'Large song',
    tempo_map: [{ tick: 0, bpm: 120 }],
    time_signatures: [{ tick: 0, numerator: 4, denominator: 4 }],
    tracks: indices(40).map((track) => ({
      id: `track-${track}`,
      name: `Track ${track + 1}`,
      kind: 'instrument',
      volume_db: -24,
      synth_engine: { type: 'soundfont', bank: 0, program: track },
      items: indices(30).map((index) => clip(track, index)),
    })),
  };
}
