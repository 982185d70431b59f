import { mount } from 'svelte';

import './app.css';
import Page from './page.svelte';
import { createWorkspace } from './state/workspace';

const workspace = createWorkspace();
const { player } = workspace.playback;

declare global {
  interface Window {
    /** The engine, for tests and for the browser's console. The page does not use this property. */
    songfoundry: { readonly engine: typeof player.engine };
  }
}

window.songfoundry = {
  get engine() {
    return player.engine;
  },
};

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no element #app');
mount(Page, { target, props: { workspace } });
