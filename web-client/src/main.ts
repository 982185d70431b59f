import { mount } from 'svelte';

import './app.css';
import Page from './page.svelte';
import { app } from './state/app.svelte';

declare global {
  interface Window {
    /** A handle for tests and the browser's console; nothing in the page uses it. */
    songfoundry: { readonly engine: typeof app.player.engine };
  }
}

window.songfoundry = {
  get engine() {
    return app.player.engine;
  },
};

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no element #app');
mount(Page, { target });
