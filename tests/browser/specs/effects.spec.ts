/** Effects on tracks and on the master, by mouse and keyboard. */
import type { Locator, Page } from '@playwright/test';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';
import { dragFrom, saveAndRead, trackOf } from '../support/stored';
import { toneWav } from '../support/tone';

// These tests store songs. A setting that differs from the default gives them a separate service.
test.use({ settings: { SF_LOG: 'warn' } });

const chain = (page: Page, trackName = 'Flute'): Locator =>
  page.getByRole('region', { name: 'Editor' }).getByRole('list', { name: `Effects of ${trackName}`, exact: true });
const panels = (page: Page, trackName?: string): Locator => chain(page, trackName).getByRole('listitem', { name: /^Effect \d+:/ });
const knobInPanel = (page: Page, name: string, index = 0): Locator => panels(page).nth(index).getByRole('slider', { name, exact: true });

const knobOnPage = (page: Page, name: string): Locator => page.getByRole('slider', { name, exact: true });

async function addUtility(page: Page, trackName = 'Flute'): Promise<void> {
  const editor = page.getByRole('region', { name: 'Editor' });
  await editor.getByRole('button', { name: `Add an effect to ${trackName}` }).click();
  await page.getByRole('menuitem', { name: 'Utility' }).click();
}

test('an effect is added, set by mouse, wheel and keys, bypassed, undone and saved', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('tab', { name: 'Effects' }).click();
  await addUtility(page);
  await expect(panels(page)).toHaveCount(1);

  const gain = knobInPanel(page, 'Utility gain');
  await expect(gain).toHaveAttribute('aria-valuetext', '0.0 dB');
  await dragFrom(page, gain, [0.5, 0.5], [0, -16]);
  // The drag moves the knob by a tenth of its range from -60 dB to 36 dB.
  await expect(gain).toHaveAttribute('aria-valuetext', '+9.6 dB');
  await page.keyboard.press('Control+z');
  await expect(gain, 'a drag is one undo step').toHaveAttribute('aria-valuetext', '0.0 dB');
  await gain.focus();
  await page.keyboard.press('ArrowDown');
  await expect(gain).toHaveAttribute('aria-valuetext', '−0.5 dB');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(gain).toHaveAttribute('aria-valuetext', '−0.6 dB');
  await page.keyboard.press('Home');
  await expect(gain).toHaveAttribute('aria-valuetext', '−∞');
  await gain.dblclick();
  await expect(gain).toHaveAttribute('aria-valuetext', '0.0 dB');
  await gain.hover();
  await page.mouse.wheel(0, -100);
  await expect(gain).toHaveAttribute('aria-valuetext', '+0.5 dB');
  await gain.press('Enter');
  await page.keyboard.type('-7.5 dB');
  await page.keyboard.press('Enter');
  await expect(gain).toHaveAttribute('aria-valuetext', '−7.5 dB');

  const panel = panels(page).first();
  await panel.getByRole('switch', { name: 'Utility invert left' }).click();
  await panel.getByRole('combobox', { name: 'Utility channels' }).selectOption('Mono');
  await panel.getByRole('switch', { name: 'Use Utility' }).click();
  await expect(panel).toHaveAccessibleName('Effect 1: Utility, bypassed');

  const storedSong = trackOf(await saveAndRead(page, service), 'Flute');
  expect(storedSong.effects).toMatchObject([
    { type: 'builtin', name: 'utility', params: { gain_db: -7.5, invert_left: true, channels: 4 }, bypass: true },
  ]);
});

test('effects are reordered by mouse and keyboard, copied and removed', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Bass' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  for (const gain of ['1', '2', '3']) {
    await addUtility(page, 'Bass');
    const addedSlider = panels(page, 'Bass').last().getByRole('slider', { name: 'Utility gain' });
    await addedSlider.press('Enter');
    await page.keyboard.type(gain);
    await page.keyboard.press('Enter');
  }
  const gains = async (): Promise<unknown[]> => {
    const track = trackOf(await saveAndRead(page, service), 'Bass');
    return (track.effects as { params: { gain_db: number } }[]).map((effect) => effect.params.gain_db);
  };
  const heading = (index: number): Locator => panels(page, 'Bass').nth(index).getByRole('heading');
  expect(await gains()).toEqual([1, 2, 3]);

  const target = await heading(2).boundingBox();
  const from = await heading(0).boundingBox();
  if (!target || !from) throw new Error('the panels are not shown');
  await dragFrom(page, heading(0), [0.5, 0.5], [target.x - from.x + target.width, 0]);
  expect(await gains()).toEqual([2, 3, 1]);

  await heading(2).focus();
  await page.keyboard.press('ArrowLeft');
  expect(await gains()).toEqual([2, 1, 3]);
  await page.keyboard.press('Control+d');
  expect(await gains()).toEqual([2, 1, 1, 3]);
  await page.keyboard.press('Delete');
  await page.keyboard.press('Delete');
  expect(await gains()).toEqual([2, 1]);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  expect(await gains(), 'each edit is undone separately').toEqual([2, 3, 1]);
});

test('the master has effects, which its channel strip shows', async ({ page, service }) => {
  await openDemo(page, service);
  const master = page.getByRole('group', { name: 'Channel Master' });
  await master.getByRole('button', { name: 'Add an effect to Master' }).click();
  await page.getByRole('menuitem', { name: 'Utility' }).click();
  await expect(panels(page, 'the master')).toHaveCount(1);
  await page.getByRole('listitem', { name: 'Track Drums' }).click();
  await expect(panels(page, 'Drums')).toHaveCount(0);
  await master.getByRole('button', { name: 'Utility', exact: true }).click();
  await expect(panels(page, 'the master')).toHaveCount(1);
  await master.getByRole('button', { name: 'Master: use Utility' }).click();
  const storedSong = await saveAndRead(page, service);
  expect(storedSong.master.effects).toMatchObject([{ name: 'utility', bypass: true }]);
});

test('an equalizer is set on its curve, and a compressor shows its gain reduction', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Strings' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  const add = async (name: string): Promise<void> => {
    await page.getByRole('region', { name: 'Editor' }).getByRole('button', { name: 'Add an effect to Strings' }).click();
    await page.getByRole('menuitem', { name, exact: true }).click();
  };
  await add('Equalizer');
  const curve = page.getByLabel('Response of the equalizer');
  const width = (await curve.boundingBox())?.width ?? 0;
  // Bell 2 is at 600 Hz. The axis has three decades and starts at 20 Hz.
  await dragFrom(page, curve, [Math.log10(30) / 3, 0.5], [width / 3, -30]);
  await add('Compressor');
  await knobOnPage(page, 'Compressor threshold').press('Home');
  const storedSong = trackOf(await saveAndRead(page, service), 'Strings');
  const [equalizer, compressor] = storedSong.effects as { params: Record<string, number> }[];
  expect(equalizer?.params.bell_2_frequency_hz).toBeGreaterThan(5_500);
  expect(equalizer?.params.bell_2_frequency_hz).toBeLessThan(6_500);
  expect(equalizer?.params.bell_2_gain_db).toBeGreaterThan(4);
  expect(compressor?.params.threshold_db).toBe(-60);

  /** Turns the mouse wheel over the handle at a frequency in hertz. */
  const turn = async (hertz: number): Promise<void> => {
    const box = await curve.boundingBox();
    if (!box) throw new Error('the curve is not shown');
    await page.mouse.move(box.x + (box.width * Math.log10(hertz / 20)) / 3, box.y + box.height / 2);
    await page.mouse.wheel(0, -100);
  };
  await curve.scrollIntoViewIfNeeded();
  const qOf = (band: string): Locator => knobOnPage(page, `Equalizer ${band} Q`);
  const textBefore = await qOf('bell 1').getAttribute('aria-valuetext');
  for (const [hertz, band] of [[200, 'bell 1'], [1_800, 'bell 3']] as const) {
    await turn(hertz);
    await expect(qOf(band)).not.toHaveAttribute('aria-valuetext', textBefore ?? '');
    await expect(curve, 'the wheel gesture has ended').not.toHaveAttribute('data-turning');
  }
  await page.keyboard.press('Control+z');
  await expect(qOf('bell 3'), 'turns over one band are one undo step').toHaveAttribute('aria-valuetext', textBefore ?? '');
  await expect(qOf('bell 1')).not.toHaveAttribute('aria-valuetext', textBefore ?? '');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(page.getByLabel('Gain reduction of Compressor')).toBeVisible();
});

test('controls keep the focus, and one gesture is one undo step', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Electric piano' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  const add = page.getByRole('region', { name: 'Editor' }).getByRole('button', { name: 'Add an effect to Electric piano' });
  await add.press('Enter');
  await page.keyboard.press('Escape');
  await expect(add, 'the focus returns to the menu button').toBeFocused();
  await addUtility(page, 'Electric piano');
  const gain = knobOnPage(page, 'Utility gain');

  await gain.press('Enter');
  await page.keyboard.type('-3');
  await page.keyboard.press('Enter');
  await expect(gain).toHaveAttribute('aria-valuetext', '−3.0 dB');
  await expect(gain).toBeFocused();
  await gain.press('Enter');
  await page.keyboard.press('Escape');
  await expect(gain).toBeFocused();

  for (let count = 0; count < 4; count++) await page.keyboard.down('ArrowUp');
  await page.keyboard.up('ArrowUp');
  await expect(gain).toHaveAttribute('aria-valuetext', '−1.0 dB');
  await page.keyboard.press('Control+z');
  await expect(gain, 'a held key is one undo step').toHaveAttribute('aria-valuetext', '−3.0 dB');

  await gain.hover();
  for (let count = 0; count < 10; count++) await page.mouse.wheel(0, -4);
  await expect(gain, 'small moves on a trackpad add up').toHaveAttribute('aria-valuetext', '−2.5 dB');
  await expect(gain, 'the wheel gesture has ended').not.toHaveAttribute('data-turning');
  await page.mouse.wheel(0, -100);
  await page.mouse.wheel(0, -100);
  await expect(gain).toHaveAttribute('aria-valuetext', '−1.5 dB');
  await page.keyboard.press('Control+z');
  await expect(gain, 'after a pause, the wheel starts another undo step').toHaveAttribute('aria-valuetext', '−2.5 dB');

  await gain.focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Delete');
  await expect(gain, 'Delete resets a control that was focused with the Tab key').toHaveAttribute('aria-valuetext', '0.0 dB');
  await gain.click();
  await page.keyboard.press('Delete');
  await expect(panels(page, 'Electric piano'), 'after a click Delete removes the effect').toHaveCount(0);

  const fader = page.getByRole('slider', { name: 'Electric piano fader' });
  await fader.hover();
  await page.keyboard.down('Shift');
  await page.mouse.wheel(-100, 0);
  await page.keyboard.up('Shift');
  await expect(fader, 'browsers report a wheel turn with Shift as horizontal').toHaveAttribute('aria-valuetext', '−6.4 dB');
});

test('panels keep their layout and scroll into view, and the buttons of effects do not move', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Steel guitar' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  const strip = page.getByRole('group', { name: 'Channel Steel guitar' });
  const add = strip.getByRole('button', { name: 'Add an effect to Steel guitar' });
  const addKind = async (name: string): Promise<Locator> => {
    await add.click();
    await page.getByRole('menuitem', { name, exact: true }).click();
    const panel = panels(page, 'Steel guitar').filter({ has: page.getByRole('button', { name: `Remove ${name}` }) });
    await expect(panel).toBeInViewport({ ratio: 0.99 });
    return panel;
  };
  const compressor = await addKind('Compressor');
  /** The different positions of a knob in its panel, in all animation frames of half a second. */
  const positions = compressor.evaluate(
    (panel) =>
      new Promise<number[]>((resolve) => {
        const seenNumbers = new Set<number>();
        const end = performance.now() + 500;
        const measureFrame = (): void => {
          const knob = panel.querySelector('[role="slider"]');
          if (knob) seenNumbers.add(knob.getBoundingClientRect().left - panel.getBoundingClientRect().left);
          if (performance.now() < end) requestAnimationFrame(measureFrame);
          else resolve([...seenNumbers]);
        };
        measureFrame();
      }),
  );
  const gate = await addKind('Gate');
  expect(await positions, 'the meter does not move the knob').toHaveLength(1);
  await expect(gate).toBeInViewport({ ratio: 0.99 });

  for (const name of ['Limiter', 'Delay', 'Chorus', 'Reverb']) await addKind(name);
  await expect(add, 'the effects scroll, but the add button does not').toBeInViewport({ ratio: 0.99 });
  await add.click();
  await page.getByRole('menuitem', { name: 'Equalizer' }).click();
  await expect(page.getByRole('button', { name: 'Remove Equalizer' }), 'the header stays in view although the panel is wider').toBeInViewport({ ratio: 0.99 });
  await page.getByRole('slider', { name: 'Equalizer output' }).focus();
  for (const header of [page.getByRole('switch', { name: 'Use Equalizer' }), page.getByRole('heading').getByText('Equalizer')]) {
    await expect(header, 'the header stays in view although the panel is wider').toBeInViewport({ ratio: 0.99 });
  }

  // A panel that is partly in view does not scroll while it is pressed.
  const remove = page.getByRole('button', { name: 'Remove Gate' });
  await remove.evaluate((button) => button.scrollIntoView({ inline: 'start' }));
  await expect(gate).not.toBeInViewport({ ratio: 0.5 });
  const box = await remove.boundingBox();
  if (!box) throw new Error('the button is not shown');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await expect(gate, 'the press selects the panel').toHaveAttribute('aria-current', 'true');
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
  await page.mouse.up();
  await expect(remove).toHaveCount(0);
});

test('a convolution has an audio file, which adds no clip', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Drums' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  await page.getByRole('region', { name: 'Editor' }).getByRole('button', { name: 'Add an effect to Drums' }).click();
  await page.getByRole('menuitem', { name: 'Convolution' }).click();
  const pick = async (name: string, buffer: Buffer): Promise<void> => {
    const picker = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Pick a file…' }).click();
    await (await picker).setFiles({ name, mimeType: 'audio/wav', buffer });
  };
  await pick('cave.wav', Buffer.from('no sound'));
  await expect(page.getByRole('alert')).toContainText('cave.wav cannot be used: it is not a supported kind of audio file');
  await pick('Cave.wav', toneWav(48_000, 4_800));
  const files = page.getByRole('combobox', { name: 'Response file of Convolution' });
  await expect(files.getByRole('option', { selected: true })).toHaveText('Cave.wav');
  await pick('Walk.wav', toneWav(8_000, 31 * 8_000));
  await expect(page.getByRole('alert').filter({ hasText: 'Walk' })).toContainText(
    'Walk.wav cannot be used: the file lasts 31 s; an impulse response may last at most 30 s',
  );
  await expect(files.getByRole('option', { name: 'Walk.wav (31 s, too long)' })).toBeDisabled();
  await expect(files.getByRole('option', { selected: true })).toHaveText('Cave.wav');
  await expect(page.getByRole('combobox', { name: 'Convolution response' }).getByRole('option', { selected: true })).toHaveText('Own');
  const storedSong = await saveAndRead(page, service);
  const [convolution] = trackOf(storedSong, 'Drums').effects as { impulse?: string }[];
  expect(convolution?.impulse).toBeTruthy();
  expect(storedSong.tracks.filter((track) => track.kind === 'audio'), 'the file adds no track').toHaveLength(0);
});

test('bypassed effects are dimmed, and their buttons say so', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Bass' }).click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  await addUtility(page, 'Bass');
  const use = page.getByRole('group', { name: 'Channel Bass', exact: true }).getByRole('button', { name: 'Bass: use Utility' }).last();
  await expect(use).toHaveAttribute('title', 'Bypass Utility');
  const body = panels(page, 'Bass').last().locator('.body');
  await expect(body).toHaveCSS('opacity', '1');
  await page.getByRole('switch', { name: 'Use all effects of Bass' }).click();
  await expect(use).toHaveAttribute('title', 'All effects of Bass are bypassed');
  await expect(body).toHaveCSS('opacity', '0.45');
});
