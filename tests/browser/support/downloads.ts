/** Records the SoundFonts that the page downloads. */
import type { Page, Response } from '@playwright/test';
import { expect } from './service';

export type Download = { presets: string[]; bytes: number };

/** Returns a list to which each bank is added that the page downloads after this call. */
export function downloads(page: Page): Download[] {
  const recordedDownloads: Download[] = [];
  page.on('response', (response: Response) => {
    const url = new URL(response.url());
    if (!url.pathname.includes('/plugins/soundfonts/download/')) return;
    expect(response.status()).toBe(200);
    const presets = url.searchParams.get('presets')?.split(',') ?? [];
    recordedDownloads.push({ presets, bytes: Number(response.headers()['content-length']) });
  });
  return recordedDownloads;
}
