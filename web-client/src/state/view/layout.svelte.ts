/** Sizes and visibility of the parts of the page, stored in this browser. */
import { readStored, writeStored } from '../local-storage';

/**
 * Width in CSS pixels below which the page counts as narrow. Narrow pages have their own choice of
 * visible parts; at first only the editor is visible.
 */
const NARROW_PX = 1200;

type Sizes = { browserPx: number; headersPx: number; editorPx: number; mixerPx: number };
/** Whether each part of the page is visible. */
type Visibility = { browser: boolean; editor: boolean; mixer: boolean };
type StoredLayout = { sizes: Sizes; wide: Visibility; narrow: Visibility };

const LIMITS: Record<keyof Sizes, { min: number; max: number; initial: number }> = {
  browserPx: { min: 200, max: 420, initial: 252 },
  headersPx: { min: 196, max: 360, initial: 214 },
  editorPx: { min: 180, max: 640, initial: 316 },
  mixerPx: { min: 190, max: 1100, initial: 540 },
};

function isLayout(value: unknown): value is StoredLayout {
  const layout = value as Partial<StoredLayout> | null;
  const sizes = layout?.sizes;
  return (
    !!sizes &&
    (Object.keys(LIMITS) as (keyof Sizes)[]).every((key) => Number.isFinite(sizes[key])) &&
    [layout.wide, layout.narrow].every(
      (shown) => !!shown && [shown.browser, shown.editor, shown.mixer].every((flag) => typeof flag === 'boolean'),
    )
  );
}

export class Layout {
  sizes = $state<Sizes>({
    browserPx: LIMITS.browserPx.initial,
    headersPx: LIMITS.headersPx.initial,
    editorPx: LIMITS.editorPx.initial,
    mixerPx: LIMITS.mixerPx.initial,
  });
  #wide = $state<Visibility>({ browser: true, editor: true, mixer: true });
  #narrow = $state<Visibility>({ browser: false, editor: true, mixer: false });
  narrow = $state(false);
  shown = $derived(this.narrow ? this.#narrow : this.#wide);

  constructor() {
    const stored = readStored<StoredLayout | null>('layout', null, (value): value is StoredLayout | null =>
      isLayout(value),
    );
    if (stored) {
      for (const key of Object.keys(LIMITS) as (keyof Sizes)[]) this.resize(key, stored.sizes[key]);
      this.#wide = stored.wide;
      this.#narrow = stored.narrow;
    }
    const media = window.matchMedia(`(max-width: ${NARROW_PX - 1}px)`);
    this.narrow = media.matches;
    media.addEventListener('change', () => (this.narrow = media.matches));
  }

  limits(key: keyof Sizes): { min: number; max: number; initial: number } {
    return LIMITS[key];
  }

  /** Sets a size in CSS pixels, limited to the range of {@link LIMITS}. */
  resize(key: keyof Sizes, px: number): void {
    const { min, max } = LIMITS[key];
    this.sizes[key] = Math.round(Math.min(max, Math.max(min, px)));
  }

  toggle(part: keyof Visibility): void {
    this.shown[part] = !this.shown[part];
    this.remember();
  }

  show(part: keyof Visibility): void {
    this.shown[part] = true;
    this.remember();
  }

  remember(): void {
    writeStored('layout', {
      sizes: $state.snapshot(this.sizes),
      wide: $state.snapshot(this.#wide),
      narrow: $state.snapshot(this.#narrow),
    });
  }
}
