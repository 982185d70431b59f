/** An entry of a menu: a command, a switch, a choice, a submenu, a heading or a separator. */
export type MenuEntry =
  | { kind: 'command'; label: string; keys?: string; disabled?: boolean; action: () => void }
  | { kind: 'switch'; label: string; checked: boolean; action: () => void }
  | { kind: 'choice'; heading: string; value: string; options: readonly { value: string; label: string; /** Colour of a dot beside the label. */ color?: string }[]; choose: (value: string) => void }
  | { kind: 'submenu'; label: string; disabled?: boolean; entries: readonly MenuEntry[] }
  | { kind: 'heading'; label: string }
  | { kind: 'separator' };
