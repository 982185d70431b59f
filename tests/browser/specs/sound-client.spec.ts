/** With instruments rendered by the browser, playback equals the service's render. */
import { expectDemoAsRendered } from '../support/demo';
import { test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

test('the page plays the demo song as the service renders it', async ({ page, service }) => {
  await expectDemoAsRendered(page, service, 'client');
});
