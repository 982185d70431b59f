/** The panels of menus, whose scripts are loaded while the page is idle or when a menu opens. */
import { LazyPart } from './lazy-part';
import type { GroupedMenuPanelProps } from './grouped-menu-panel';
import type { MenuPanelProps } from './menu-panel';

export const MENU_PANEL = new LazyPart<MenuPanelProps>('The menu', () => import('./menu-panel.svelte'));
export const GROUPED_MENU_PANEL = new LazyPart<GroupedMenuPanelProps>('The menu', () => import('./grouped-menu-panel.svelte'));
