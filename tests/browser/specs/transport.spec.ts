/** The loop, the metronome, recording of live notes, and the lane of tempo changes. */
import type { Page } from '@playwright/test';
import { recorded, recordMore, recordSound, startRecording } from '../support/capture';
import { openDemo, play, playToBar, shownBar } from '../support/demo';
import { expect, test, type Service } from '../support/service';
import { saveAndRead, trackOf } from '../support/stored';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

const RATE_HZ = 48_000;
const TICKS_PER_BAR = 3840;
/** Level above which a sound counts as started. */
const ONSET_LEVEL = 2e-3;

/**
 * Stores a song at 120 BPM as the demo song: a track with one dry note at the start of a loop from
 * the second to the third second.
 */
async function storeLoopedNote(page: Page, service: Service): Promise<void> {
  const address = `${service.url}/api/v1/projects/demo`;
  const answer = await page.request.get(address);
  const song = {
    schema_version: 1,
    project_id: 'demo',
    name: 'Song with a loop',
    sample_rate_hz: RATE_HZ,
    client: { loop: { start_tick: 1920, end_tick: 3840, active: true } },
    tracks: [
      {
        id: 'clave',
        name: 'Clave',
        kind: 'instrument',
        synth_engine: { type: 'soundfont', soundfont_id: 'timgm6mb', bank: 128, program: 0 },
        items: [
          {
            type: 'midi',
            id: 'item',
            start_tick: 0,
            length_ticks: 7680,
            notes: [{ tick: 1920, length_ticks: 120, pitch: 75, velocity: 1 }],
            controls: [91, 93].map((controller) => ({ tick: 0, type: 'cc', controller, value: 0 })),
          },
        ],
      },
    ],
  };
  const saveResponse = await page.request.put(address, { data: song, headers: { 'If-Match': answer.headers()['etag'] ?? '' } });
  expect(saveResponse.ok(), await saveResponse.text()).toBe(true);
}

/** Returns the frames at which a sound starts after a quarter of a second of silence. */
function onsets(left: Float32Array): number[] {
  const frames: number[] = [];
  let lastLoud = -RATE_HZ;
  left.forEach((value, frame) => {
    if (Math.abs(value) < ONSET_LEVEL) return;
    if (frame - lastLoud > RATE_HZ / 4) frames.push(frame);
    lastLoud = frame;
  });
  return frames;
}

const distances = (frames: readonly number[]): number[] => frames.slice(1).map((frame, index) => frame - (frames[index] ?? 0));

test('a loop repeats exactly to the frame, and the metronome clicks exactly on the beats', async ({ page, service }) => {
  await storeLoopedNote(page, service);
  await openDemo(page, service);
  await expect(page.getByRole('button', { name: 'Loop', exact: true, pressed: true })).toBeVisible();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await recordMore(page, 3.5 * RATE_HZ);
  await page.getByRole('button', { name: 'Stop' }).click();
  const notes = onsets((await recorded(page)).left);
  expect(notes.length).toBeGreaterThanOrEqual(4);
  expect(distances(notes)).toEqual(Array.from({ length: notes.length - 1 }, () => RATE_HZ));

  // In a muted song, a click is on each beat, also where the loop jumps.
  await page.getByRole('button', { name: 'Mute Clave' }).click();
  await page.getByRole('button', { name: 'Metronome' }).click();
  await page.getByRole('button', { name: 'To start' }).click();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await recordMore(page, 3.2 * RATE_HZ);
  await page.getByRole('button', { name: 'Stop' }).click();
  const clicks = onsets((await recorded(page)).left);
  expect(clicks.length).toBeGreaterThanOrEqual(6);
  expect(distances(clicks)).toEqual(Array.from({ length: clicks.length - 1 }, () => RATE_HZ / 2));
});

test('keys of the computer are recorded on an armed track, and the tempo lane is edited', async ({ page, service }) => {
  await storeLoopedNote(page, service);
  await openDemo(page, service);
  await page.keyboard.press('Shift+L');
  await expect(page.getByRole('button', { name: 'Loop', exact: true, pressed: false })).toBeVisible();
  await page.getByRole('button', { name: 'Arm Clave for recording' }).click();
  await page.keyboard.press('r');
  await expect(page.getByRole('button', { name: 'Record', exact: true, pressed: true })).toBeVisible();
  await playToBar(page, 2);
  await page.keyboard.down('a');
  const barAfterPress = await shownBar(page);
  await playToBar(page, barAfterPress + 1);
  await page.keyboard.up('a');
  await page.keyboard.press('r');
  await expect(page.getByRole('button', { name: 'Record', exact: true, pressed: false })).toBeVisible();
  await page.keyboard.press(' ');
  const notesOf = async (): Promise<{ tick: number; length_ticks: number; pitch: number }[]> => {
    const { items } = trackOf(await saveAndRead(page, service), 'Clave');
    return (items as { notes: { tick: number; length_ticks: number; pitch: number }[] }[]).flatMap((item) => item.notes);
  };
  const [, note, ...otherNotes] = await notesOf();
  expect(otherNotes).toEqual([]);
  expect(note?.pitch).toBe(60);
  // The key was pressed after the start of the second bar, and before the end of the bar that was
  // shown then.
  expect(note?.tick).toBeGreaterThanOrEqual(TICKS_PER_BAR);
  expect(note?.tick).toBeLessThan(barAfterPress * TICKS_PER_BAR);
  expect((note?.tick ?? 0) + (note?.length_ticks ?? 0)).toBeGreaterThanOrEqual(barAfterPress * TICKS_PER_BAR);
  await page.keyboard.press('Control+z');
  expect(await notesOf()).toHaveLength(1);

  await page.getByRole('button', { name: 'View menu' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Tempo, time signatures and markers' }).click();
  const tempo = page.getByRole('group', { name: 'Tempo', exact: true });
  await tempo.dblclick({ position: { x: 200, y: 10 } });
  await page.keyboard.type('90.5');
  await page.keyboard.press('Enter');
  const change = tempo.getByRole('button', { name: /^tempo change 90.5/ });
  await change.press('ArrowRight');
  const storedTempo = async (): Promise<unknown> => (await saveAndRead(page, service))['tempo_map' as 'tracks'];
  const editedTempo = (await storedTempo()) as { tick: number; bpm: number }[];
  expect(editedTempo).toEqual([{ tick: 0, bpm: 120 }, { tick: expect.any(Number) as unknown as number, bpm: 90.5 }]);
  await change.press('Delete');
  await expect(change).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(change).toBeVisible();
  for (let undone = 0; undone < 3; undone++) await page.keyboard.press('Control+z');
  await expect(change).toHaveCount(0);
  expect(await storedTempo()).toEqual([{ tick: 0, bpm: 120 }]);

  // A double click on the tempo types it, and the shortcuts work again after that.
  const field = page.getByRole('spinbutton', { name: 'Tempo' });
  await field.dblclick();
  await page.getByRole('textbox', { name: 'Tempo' }).fill('100');
  await page.keyboard.press('Enter');
  await expect(field).toHaveText('100.00');
  await page.keyboard.press('Shift+L');
  await expect(page.getByRole('button', { name: 'Loop', exact: true, pressed: true })).toBeVisible();
});
