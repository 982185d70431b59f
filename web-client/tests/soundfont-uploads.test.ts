import { afterEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import type { SoundFontEntry, SoundFontUpload } from '../src/api/types';
import { SoundFontCatalog } from '../src/state/library/soundfont-catalog.svelte';
import { uploadNotice, replacementNotice } from '../src/state/library/soundfont-uploads.svelte';

const entry: SoundFontEntry = {
  soundfont_id: 'bells',
  name: 'Bells',
  source: 'upload',
  format: 'sf2',
  size_bytes: 4000,
  content_hash: 'a',
  default: false,
  usable: true,
  problem: null,
  skipped: { count: 0, reasons: [] },
  others: [],
  presets: [{ bank: 0, program: 9, name: 'Bell' }],
};

function noticeOf(uploaded: Partial<SoundFontUpload['uploaded']>): string {
  const file = { format: 'sf2', size_bytes: 4000, content_hash: 'a', already_there: false, replaced: false } as const;
  return uploadNotice({ ...entry, uploaded: { ...file, skipped: { count: 0, reasons: [] }, ...uploaded } });
}

afterEach(() => vi.unstubAllGlobals());

describe('an uploaded SoundFont', () => {
  it('is reported in a notice that names the result', () => {
    expect(noticeOf({})).toBe('Bells was added: 1 sound.');
    expect(noticeOf({ already_there: true })).toBe('You already have Bells.');
    expect(noticeOf({ replaced: true })).toBe('Bells replaces your earlier file of the same name: 1 sound.');
    expect(noticeOf({ skipped: { count: 2, reasons: ['', ''] } })).toContain('without 2 damaged regions');
    expect(noticeOf({ format: 'sf3' })).toContain('Your SF2 file of the same name is used instead.');
  });

  it('has a notice that names its replacement before it is deleted', () => {
    expect(replacementNotice(entry)).toContain('the default SoundFont');
    const otherFormats = [{ source: 'upload', format: 'sf3', reason: '' } as const, { source: 'system', format: 'sf2', reason: '' } as const];
    expect(replacementNotice({ ...entry, others: otherFormats })).toContain('the system’s SoundFont of the same name');
    expect(replacementNotice({ ...entry, others: otherFormats.slice(0, 1) })).toContain('the default SoundFont');
  });

  it('comes before the default and all other SoundFonts in the catalogue', async () => {
    const otherFormats = [
      { ...entry, soundfont_id: 'a', source: 'system' },
      { ...entry, soundfont_id: 'gm', source: 'system', default: true },
    ];
    const body = { soundfonts: [...otherFormats, entry], condensed: [], scanned_at: '' };
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } }));
    const catalog = new SoundFontCatalog(new Api('http://songs.test'));
    await catalog.load();
    expect(catalog.entries.map((entry) => entry.soundfont_id)).toEqual(['bells', 'gm', 'a']);
    expect(catalog.defaultId).toBe('gm');
  });
});
