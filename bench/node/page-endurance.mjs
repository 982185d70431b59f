// Measures the drop-outs of a song of 24 tracks, and the growth of the page's memory while it is
// edited: node page-endurance.mjs SONGFOUNDRY PAGE BANK PLAY_SECS EDITS
import { launchChromium, openSong, withService } from './browser-and-service.mjs';
import { largeSong } from './large-song.mjs';

/** Edits before the first measurement, which fill the history and the caches. */
const WARM_UP_EDITS = 300;

const [program, folder, bank, playSecs, edits] = process.argv.slice(2);
const figures = await withService(program, folder, bank, async (url) => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await openSong(page, url, largeSong({ tracks: 24, clipsEach: 180, notesEach: 4 }));
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play', pressed: true }).waitFor();
    const underruns = () =>
      page.evaluate(() => new Promise((done) => { const end = window.songfoundry.engine.onStatus((status) => { end(); done(status.underruns); }); }));
    const underrunsBefore = await underruns();
    await page.waitForTimeout(Number(playSecs) * 1000);
    const dropOuts = (await underruns()) - underrunsBefore;
    await page.keyboard.press('Space');

    const session = await page.context().newCDPSession(page);
    const heapBytes = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    await page.getByLabel('Clips of the tracks').click({ position: { x: 200, y: 30 } });
    // Each round moves a clip, moves it back, and undoes one of both.
    const edit = async (count) => {
      for (let done = 0; done < count; done += 3) {
        await page.keyboard.press('Control+d');
        await page.keyboard.press('Delete');
        await page.keyboard.press('Control+z');
        await page.keyboard.press('Control+z');
      }
      await page.waitForTimeout(2000);
    };
    await edit(WARM_UP_EDITS);
    const startBytes = await heapBytes();
    await edit(Number(edits));
    return { drop_outs: dropOuts, heap_mib: startBytes / 1_048_576, growth_mib: ((await heapBytes()) - startBytes) / 1_048_576 };
  } finally {
    await browser.close();
  }
});
console.log(JSON.stringify(figures));
