/**
 * Returns the element that gets the panel of a menu. Screen readers find content by landmarks, so a
 * menu is in the main one, unless a dialog has the button and hides the rest of the page.
 */
export function menuPlace(opener: HTMLElement): HTMLElement {
  const main = opener.closest('[role="dialog"]') ? null : document.querySelector('main');
  return main ?? document.body;
}
