/** The entries under one heading of a grouped menu. */
export type MenuGroup = { heading: string; entries: { key: string; label: string; action: () => void }[] };

/** The properties of an open menu with groups. */
export type GroupedMenuPanelProps = {
  label: string;
  groups: readonly MenuGroup[];
  /** Text that a menu without groups shows. */
  emptyText: string;
  /** The button of the menu. Clicks on it do not close the menu. */
  opener: HTMLElement;
  onclose: () => void;
};
