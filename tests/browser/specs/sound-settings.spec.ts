/** The sound settings of a song, by keyboard and mouse. */
import type { Locator, Page } from '@playwright/test';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

const panel = (page: Page): Locator => page.getByRole('region', { name: 'Sound of the song' });
const slider = (page: Page, name: string): Locator => panel(page).getByRole('slider', { name, exact: true });

test('sound settings are changed, undone, saved and restored', async ({ page, service }) => {
  await openDemo(page, service);
  const soundButton = page.getByRole('button', { name: 'Sound', exact: true });
  await soundButton.click();
  const roomSlider = slider(page, 'Reverb room');
  await expect(roomSlider).toHaveAttribute('aria-valuetext', '50 %');
  await roomSlider.focus();
  await page.keyboard.press('ArrowRight');
  await expect(roomSlider).toHaveAttribute('aria-valuetext', '51 %');
  await page.keyboard.press('Control+z');
  await expect(roomSlider).toHaveAttribute('aria-valuetext', '50 %');
  await page.keyboard.press('End');
  await expect(roomSlider).toHaveAttribute('aria-valuetext', '100 %');

  await slider(page, 'Chorus level').focus();
  await page.keyboard.press('Home');
  await expect(slider(page, 'Chorus level')).toHaveAttribute('aria-valuetext', 'off');
  await panel(page).getByText('Sinc').click();
  await expect(panel(page).getByRole('radio', { name: 'Sinc' })).toBeChecked();
  await expect(panel(page).getByRole('radio', { name: 'As in the SoundFont' })).toBeChecked();
  await panel(page).getByText('SF 2.04').click();
  await expect(panel(page).getByRole('radio', { name: 'SF 2.04' })).toBeChecked();

  const rateSlider = slider(page, 'Chorus rate');
  const box = await rateSlider.boundingBox();
  if (!box) throw new Error('the slider is not shown');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await expect(rateSlider).toHaveAttribute('aria-valuetext', '10.00 Hz');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rateSlider, 'a drag is one undo step').toHaveAttribute('aria-valuetext', '0.40 Hz');

  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  const storedSong = (await (await page.request.get(`${service.url}/api/v1/projects/demo`)).json()) as { settings: unknown };
  expect(storedSong.settings).toMatchObject({
    interpolation: 'sinc',
    velocity_to_cutoff: 'specification',
    reverb: { room: 1 },
    chorus: { level_db: -144 },
  });

  await roomSlider.press('Escape');
  await expect(panel(page)).toHaveCount(0);
  await page.reload();
  await page.getByRole('button', { name: 'Project menu' }).click();
  await page.getByRole('menuitem', { name: 'Sound settings…' }).click();
  await expect(slider(page, 'Reverb room')).toHaveAttribute('aria-valuetext', '100 %');
  await panel(page).getByRole('button', { name: 'Reset' }).click();
  await expect(slider(page, 'Reverb room')).toHaveAttribute('aria-valuetext', '50 %');
});
