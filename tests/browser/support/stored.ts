/** Reads the project that the service stores, and drags with the mouse, for several specs. */
import type { Locator, Page } from '@playwright/test';
import { expect, type Service } from './service';

type Json = Record<string, unknown>;
export type StoredTrack = Json & { id: string; name: string; kind: string };
export type StoredProject = { tracks: StoredTrack[]; master: Json };

/** Saves the open song by keyboard. */
export async function saveSong(page: Page): Promise<void> {
  const saveState = page.getByRole('status', { name: 'Save state' });
  await page.keyboard.press('Control+s');
  // An edit that arrives late, such as one from a plugin's window, must be saved again.
  await expect
    .poll(async () => {
      const text = await saveState.textContent();
      if (text?.startsWith('Unsaved')) await page.keyboard.press('Control+s');
      return text;
    })
    .toMatch(/^Saved/);
}

/** Saves the demo song by keyboard, and returns the stored document. */
export async function saveAndRead(page: Page, service: Service): Promise<StoredProject> {
  await saveSong(page);
  return (await (await page.request.get(`${service.url}/api/v1/projects/demo`)).json()) as StoredProject;
}

/** Returns the track with a name. */
export function trackOf(project: StoredProject, name: string): StoredTrack {
  const track = project.tracks.find((candidate) => candidate.name === name);
  if (!track) throw new Error(`the project has no track with the name ${name}`);
  return track;
}

/**
 * Drags by `byX` and `byY` pixels from a point of an element. The point is in fractions of the
 * element's size.
 */
export async function dragFrom(
  page: Page,
  element: Locator,
  [acrossShare, downShare]: [number, number],
  [byX, byY]: [number, number],
): Promise<void> {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not shown');
  const x = box.x + box.width * acrossShare;
  const y = box.y + box.height * downShare;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + byX, y + byY, { steps: 6 });
  await page.mouse.up();
}
