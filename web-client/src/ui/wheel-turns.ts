/** The wheel on a control: how far it was turned, and when a run of turns is over. */

/** Pixels of scrolling that count as one notch; wheels send more at a time, trackpads much less. */
const NOTCH_PX = 40;
/** How long the wheel rests before the next turn is a gesture of its own, in milliseconds. */
const REST_MS = 500;
/** What a notch is worth with Shift. */
const FINE = 0.1;

/** Listens to the wheel over an element: `turn` hears notches, upwards as positive numbers. What is not `wanted` scrolls. */
export function wheelTurns(
  turn: (notches: number) => void,
  end: () => void,
  wanted: (event: WheelEvent) => boolean = () => true,
): (node: HTMLElement) => () => void {
  return (node) => {
    let scrolledPx = 0;
    let resting: ReturnType<typeof setTimeout> | undefined;
    const rest = (): void => {
      scrolledPx = 0;
      end();
    };
    const wheel = (event: WheelEvent): void => {
      if (!wanted(event)) return;
      event.preventDefault();
      event.stopPropagation();
      // With Shift, some browsers scroll sideways.
      const delta = event.deltaY || event.deltaX;
      scrolledPx += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? delta : Math.sign(delta) * NOTCH_PX;
      clearTimeout(resting);
      resting = setTimeout(rest, REST_MS);
      if (Math.abs(scrolledPx) < NOTCH_PX) return;
      turn(-Math.sign(scrolledPx) * (event.shiftKey ? FINE : 1));
      scrolledPx = 0;
    };
    node.addEventListener('wheel', wheel, { passive: false });
    return () => {
      clearTimeout(resting);
      node.removeEventListener('wheel', wheel);
    };
  };
}
