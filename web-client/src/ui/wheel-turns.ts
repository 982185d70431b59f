/** Handles the mouse wheel on a control. Turns in quick succession are one gesture. */

/** Scroll distance that counts as one notch, in pixels. Trackpads send many smaller distances. */
const NOTCH_PX = 40;
/** Pause without a turn that ends a gesture, in milliseconds. */
const PAUSE_MS = 500;
/** Factor of a notch while Shift is pressed. */
const FINE_FACTOR = 0.1;

/**
 * Makes a Svelte attachment that calls `turn` for each notch, and `end` after each gesture. `turn`
 * receives 1 for upwards or -1 for downwards, or a tenth of that with Shift. If `accepts` returns
 * false for an event, the event scrolls the page. During a gesture the element has the attribute
 * `data-turning`.
 */
export function wheelTurns(
  turn: (notches: number) => void,
  end: () => void,
  accepts: (event: WheelEvent) => boolean = () => true,
): (node: HTMLElement) => () => void {
  return (node) => {
    let scrolledPx = 0;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const endGesture = (): void => {
      scrolledPx = 0;
      delete node.dataset['turning'];
      end();
    };
    const wheel = (event: WheelEvent): void => {
      if (!accepts(event)) return;
      event.preventDefault();
      event.stopPropagation();
      // Some browsers report a wheel with Shift as sideways scrolling.
      const delta = event.deltaY || event.deltaX;
      scrolledPx += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? delta : Math.sign(delta) * NOTCH_PX;
      node.dataset['turning'] = '';
      clearTimeout(pause);
      pause = setTimeout(endGesture, PAUSE_MS);
      if (Math.abs(scrolledPx) < NOTCH_PX) return;
      turn(-Math.sign(scrolledPx) * (event.shiftKey ? FINE_FACTOR : 1));
      scrolledPx = 0;
    };
    node.addEventListener('wheel', wheel, { passive: false });
    return () => {
      clearTimeout(pause);
      node.removeEventListener('wheel', wheel);
    };
  };
}
