/**
 * Assigns banks to tracks. A bank is a SoundFont reduced to some presets. A track keeps its bank as
 * long as the bank has all presets of the track. Missing presets are loaded in additional banks,
 * because replacing a bank would interrupt its notes.
 */

/** The presets of a SoundFont that a track plays, as `bank:program`. */
export type TrackNeeds = { trackId: string; soundfontId: string; presets: readonly string[] };

/** A bank that the engine has or will get. */
export type PlannedBank = { id: string; soundfontId: string; presets: ReadonlySet<string> };

export type BankPlan = {
  /** Id of each track's bank, by the id of the track. */
  bankIds: ReadonlyMap<string, string>;
  /** Banks that the engine does not have yet. */
  newBanks: readonly PlannedBank[];
};

/** If the tracks use this many banks of one SoundFont, the next new bank replaces them all. */
export const BANKS_PER_SOUNDFONT = 8;

function covers(bank: PlannedBank | undefined, needs: TrackNeeds): bank is PlannedBank {
  return bank?.soundfontId === needs.soundfontId && needs.presets.every((preset) => bank.presets.has(preset));
}

/**
 * Finds a bank for every track: its bank in `previousBankIds`, or any other of `banks` that has the
 * track's presets. The tracks of a SoundFont without such a bank share a new bank. `newId` makes
 * the ids of new banks.
 */
export function planBanks(
  tracks: readonly TrackNeeds[],
  banks: readonly PlannedBank[],
  previousBankIds: ReadonlyMap<string, string>,
  newId: (soundfontId: string) => string,
): BankPlan {
  const banksById = new Map(banks.map((bank) => [bank.id, bank]));
  const bankIds = new Map<string, string>();
  const newBanks: PlannedBank[] = [];
  for (const soundfontId of new Set(tracks.map((track) => track.soundfontId))) {
    const soundfontTracks = tracks.filter((track) => track.soundfontId === soundfontId);
    const soundfontBankIds = new Map<string, string>();
    for (const track of soundfontTracks) {
      const currentBank = banksById.get(previousBankIds.get(track.trackId) ?? '');
      const bank = covers(currentBank, track) ? currentBank : banks.find((candidate) => covers(candidate, track));
      if (bank) soundfontBankIds.set(track.trackId, bank.id);
    }
    let uncoveredTracks = soundfontTracks.filter((track) => !soundfontBankIds.has(track.trackId));
    if (uncoveredTracks.length > 0) {
      const hasManyBanks = new Set(soundfontBankIds.values()).size >= BANKS_PER_SOUNDFONT;
      if (hasManyBanks) uncoveredTracks = soundfontTracks;
      const bank = {
        id: newId(soundfontId),
        soundfontId,
        presets: new Set(uncoveredTracks.flatMap((track) => track.presets)),
      };
      newBanks.push(bank);
      for (const track of uncoveredTracks) soundfontBankIds.set(track.trackId, bank.id);
    }
    for (const [trackId, bankId] of soundfontBankIds) bankIds.set(trackId, bankId);
  }
  return { bankIds, newBanks };
}
