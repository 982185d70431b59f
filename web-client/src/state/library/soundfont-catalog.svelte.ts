/** The SoundFonts that the service offers, and their presets. */
import { reasonOf, type Api } from '../../api/client';
import { soundFontCatalog } from '../../api/endpoints';
import type { SoundFontEntry } from '../../api/types';
import type { SoundFontEngine } from '../../project/model';

/** State of the catalogue. It stays `ready` while the list is read again. */
export type CatalogState = { kind: 'loading' } | { kind: 'ready' } | { kind: 'failed'; problem: string };
export type CatalogPreset = { soundfont: SoundFontEntry; bank: number; program: number; name: string; key: string };
export type CatalogGroup = { soundfont: SoundFontEntry; presets: CatalogPreset[] };

/** Bank of the drum kits: that of SoundFonts for percussion. */
const DRUM_BANK = 128;

export class SoundFontCatalog {
  state = $state.raw<CatalogState>({ kind: 'loading' });
  /** The SoundFonts: first the user's uploads, then the default SoundFont, then all others. */
  entries = $state.raw<readonly SoundFontEntry[]>([]);
  readonly presetCount: number = $derived(
    this.entries.reduce((count, entry) => count + (entry.usable ? entry.presets.length : 0), 0),
  );
  readonly defaultId: string | null = $derived(
    (this.entries.find((entry) => entry.default) ?? this.entries.find((entry) => entry.usable))?.soundfont_id ?? null,
  );
  /** Program 0 in bank 0 of the default SoundFont; null if no SoundFont is usable. */
  readonly defaultSound: SoundFontEngine | null = $derived(
    this.defaultId === null ? null : { type: 'soundfont', soundfont_id: this.defaultId, bank: 0, program: 0 },
  );
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    if (this.state.kind !== 'ready') this.state = { kind: 'loading' };
    try {
      const { soundfonts } = await soundFontCatalog(this.#api);
      const rank = (entry: SoundFontEntry): number => (entry.source === 'upload' ? 2 : Number(entry.default));
      this.entries = [...soundfonts].sort((first, second) => rank(second) - rank(first));
      this.state = { kind: 'ready' };
    } catch (error) {
      this.state = { kind: 'failed', problem: reasonOf(error) };
    }
  }

  /**
   * Returns, for each SoundFont, the presets that match every word of `query`: by their name, by
   * `bank:program`, or by the name of the SoundFont. `drum kit` matches all kits. An empty query
   * also lists unusable SoundFonts.
   */
  search(query: string): CatalogGroup[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return this.entries
      .map((soundfont) => ({ soundfont, presets: presetsOf(soundfont, words) }))
      .filter((group) => group.presets.length > 0 || (words.length === 0 && !group.soundfont.usable));
  }

  /** Returns the name of a preset; its bank and program if the catalogue does not have it. */
  nameOf(engine: SoundFontEngine): string {
    return this.#presetOf(engine)?.name ?? `Bank ${engine.bank}, program ${engine.program}`;
  }

  /** Returns the name of a SoundFont, or its id if the SoundFont is not in the catalogue. */
  soundFontName(id: string): string {
    return this.entries.find((entry) => entry.soundfont_id === id)?.name ?? id;
  }

  #presetOf(engine: SoundFontEngine): { name: string } | undefined {
    const id = engine.soundfont_id ?? this.defaultId;
    const soundfont = this.entries.find((entry) => entry.soundfont_id === id);
    return soundfont?.presets.find((preset) => preset.bank === engine.bank && preset.program === engine.program);
  }
}

function presetsOf(soundfont: SoundFontEntry, words: string[]): CatalogPreset[] {
  if (!soundfont.usable) return [];
  const presets: CatalogPreset[] = [];
  for (const { bank, program, name } of soundfont.presets) {
    const text = `${name} ${bank}:${program} ${soundfont.name} ${bank === DRUM_BANK ? 'drum kit drums' : ''}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    presets.push({ soundfont, bank, program, name, key: `${soundfont.soundfont_id}/${bank}/${program}` });
  }
  return presets;
}
