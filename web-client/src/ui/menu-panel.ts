import type { MenuEntry } from './menu-entry';

/** The anchor of a menu: an element, or a rectangle in coordinates of the viewport. */
export type MenuAnchor = HTMLElement | { getBoundingClientRect: () => DOMRect };

/** The properties of an open menu. */
export type MenuPanelProps = {
  label: string;
  entries: readonly MenuEntry[];
  anchor: MenuAnchor;
  /** Distance from the anchor in CSS pixels. */
  offsetPx: number;
  /** The element that gets the focus when the menu closes. Clicks on it do not close the menu. */
  opener: HTMLElement;
  onclose: () => void;
};
