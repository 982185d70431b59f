/**
 * The assignment of banks to tracks. A bank is a SoundFont reduced to some presets. A track keeps
 * its bank while that has its presets. Missing presets come in additional banks, so that no bank
 * that plays is replaced.
 */

/** The presets of a SoundFont that a track plays, as `bank:program`. */
export type TrackNeeds = { trackId: string; soundfontId: string; presets: readonly string[] };

/** A bank that the engine has or will get. */
export type PlannedBank = { id: string; soundfontId: string; presets: ReadonlySet<string> };

export type BankPlan = {
  /** Bank by track. */
  assigned: ReadonlyMap<string, string>;
  /** New banks, which must be loaded. */
  fresh: readonly PlannedBank[];
};

/** Number of banks of one SoundFont above which they are joined into one. */
export const BANKS_PER_SOUNDFONT = 8;

function covers(bank: PlannedBank | undefined, needs: TrackNeeds): bank is PlannedBank {
  return bank?.soundfontId === needs.soundfontId && needs.presets.every((preset) => bank.presets.has(preset));
}

/**
 * Finds a bank for every track: its present one, or any known one. All tracks of a SoundFont that
 * lack a bank share a new one. `newId` makes the ids of new banks.
 */
export function planBanks(
  tracks: readonly TrackNeeds[],
  known: readonly PlannedBank[],
  before: ReadonlyMap<string, string>,
  newId: (soundfontId: string) => string,
): BankPlan {
  const byId = new Map(known.map((bank) => [bank.id, bank]));
  const assigned = new Map<string, string>();
  const fresh: PlannedBank[] = [];
  for (const soundfontId of new Set(tracks.map((track) => track.soundfontId))) {
    const players = tracks.filter((track) => track.soundfontId === soundfontId);
    const found = new Map<string, string>();
    for (const track of players) {
      const current = byId.get(before.get(track.trackId) ?? '');
      const bank = covers(current, track) ? current : known.find((candidate) => covers(candidate, track));
      if (bank) found.set(track.trackId, bank.id);
    }
    let missing = players.filter((track) => !found.has(track.trackId));
    if (missing.length > 0) {
      const joined = new Set(found.values()).size >= BANKS_PER_SOUNDFONT;
      if (joined) missing = players;
      const bank = {
        id: newId(soundfontId),
        soundfontId,
        presets: new Set(missing.flatMap((track) => track.presets)),
      };
      fresh.push(bank);
      for (const track of missing) found.set(track.trackId, bank.id);
    }
    for (const [trackId, bankId] of found) assigned.set(trackId, bankId);
  }
  return { assigned, fresh };
}
