/** The instruments that the service offers. */
import type { Api } from '../api/client';
import { soundFontCatalog } from '../api/endpoints';
import type { SoundFontEntry } from '../api/types';
import type { SoundFontEngine, SynthEngine } from '../project/model';

export type CatalogPhase = 'loading' | 'ready' | 'failed';
export type CatalogRow = { soundfont: SoundFontEntry; bank: number; program: number; name: string; key: string };
export type CatalogGroup = { soundfont: SoundFontEntry; rows: CatalogRow[] };

export class Catalog {
  phase = $state<CatalogPhase>('loading');
  problem = $state('');
  soundfonts = $state.raw<readonly SoundFontEntry[]>([]);
  readonly presetCount: number = $derived(
    this.soundfonts.reduce((count, entry) => count + (entry.usable ? entry.presets.length : 0), 0),
  );
  readonly defaultId: string | null = $derived(
    (this.soundfonts.find((entry) => entry.default) ?? this.soundfonts.find((entry) => entry.usable))?.soundfont_id ??
      null,
  );
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    // What is there stays to be seen while it is read anew.
    if (this.phase !== 'ready') this.phase = 'loading';
    try {
      const { soundfonts } = await soundFontCatalog(this.#api);
      // One's own first, then the default bank: what is heard unless one chooses otherwise.
      const rank = (entry: SoundFontEntry): number => (entry.source === 'upload' ? 2 : Number(entry.default));
      this.soundfonts = [...soundfonts].sort((a, b) => rank(b) - rank(a));
      this.phase = 'ready';
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.phase = 'failed';
    }
  }

  /** Presets whose name, bank or number matches every word of `query`, by SoundFont. */
  search(query: string): CatalogGroup[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return this.soundfonts
      .map((soundfont) => ({ soundfont, rows: this.#rows(soundfont, words) }))
      .filter((group) => group.rows.length > 0 || (words.length === 0 && !group.soundfont.usable));
  }

  #rows(soundfont: SoundFontEntry, words: string[]): CatalogRow[] {
    if (!soundfont.usable) return [];
    const rows: CatalogRow[] = [];
    for (const { bank, program, name } of soundfont.presets) {
      const text = `${name} ${bank}:${program} ${soundfont.name}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      rows.push({ soundfont, bank, program, name, key: `${soundfont.soundfont_id}/${bank}/${program}` });
    }
    return rows;
  }

  /** The name of an instrument as people know it. */
  nameOf(engine: SynthEngine | undefined): string {
    if (!engine) return 'No instrument';
    if (engine.type !== 'soundfont') return engine.plugin_id;
    return this.presetOf(engine)?.name ?? `Bank ${engine.bank}, program ${engine.program}`;
  }

  presetOf(engine: SoundFontEngine): { name: string } | null {
    const id = engine.soundfont_id ?? this.defaultId;
    const soundfont = this.soundfonts.find((entry) => entry.soundfont_id === id);
    return (
      soundfont?.presets.find((preset) => preset.bank === engine.bank && preset.program === engine.program) ?? null
    );
  }
}
