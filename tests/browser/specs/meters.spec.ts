/** The master's meters show what the engine reports. */
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

declare global {
  interface Window {
    /** The page's end of the line to the audio thread. */
    enginePort?: MessagePort;
  }
}

test('loudness is shown as soon as the engine measures it', async ({ page, service }) => {
  await page.addInitScript(() => {
    const Node = window.AudioWorkletNode;
    window.AudioWorkletNode = class extends Node {
      constructor(...values: ConstructorParameters<typeof Node>) {
        super(...values);
        window.enginePort = this.port;
      }
    };
  });
  await openDemo(page, service);
  await page.evaluate(() => {
    const report = {
      type: 'meters',
      momentaryLufs: -13.84,
      shortTermLufs: -14.1,
      integratedLufs: -14.26,
      truePeakDbtp: -0.5,
      correlation: -0.25,
      rmsDb: [-18.2, -Infinity],
      spectrumDb: Float32Array.from({ length: 31 }, (_, band) => -20 - band),
    };
    window.enginePort?.dispatchEvent(new MessageEvent('message', { data: report }));
  });
  const panel = page.getByRole('region', { name: 'Loudness of the master' });
  await expect(panel).toContainText('−14.3');
  await expect(panel).toContainText('−13.8');
  await expect(panel).toContainText('−0.5');
  await expect(panel).toContainText('−0.25');
  await expect(panel).toContainText('−∞');
  await page.screenshot({ path: 'output/meters.png' });
});
