/**
 * Returns the element that gets the panel of a menu. Screen readers find content by landmarks. A
 * menu is in the main landmark, unless its button is in a dialog that hides the remaining page.
 */
export function menuPlace(opener: HTMLElement): HTMLElement {
  const main = opener.closest('[role="dialog"]') ? null : document.querySelector('main');
  return main ?? document.body;
}
