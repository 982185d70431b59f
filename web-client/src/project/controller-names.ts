/** Names of MIDI controllers, after the table of control change messages of MIDI 1.0. */

/** Number of the sustain pedal's controller. */
export const SUSTAIN_CONTROLLER = 64;

const NAMES: Readonly<Record<number, string>> = {
  0: 'Bank select',
  1: 'Modulation',
  2: 'Breath',
  4: 'Foot pedal',
  5: 'Portamento time',
  6: 'Data entry',
  7: 'Volume',
  8: 'Balance',
  10: 'Pan',
  11: 'Expression',
  12: 'Effect control 1',
  13: 'Effect control 2',
  32: 'Bank select, fine',
  33: 'Modulation, fine',
  38: 'Data entry, fine',
  39: 'Volume, fine',
  42: 'Pan, fine',
  43: 'Expression, fine',
  64: 'Sustain pedal',
  65: 'Portamento',
  66: 'Sostenuto pedal',
  67: 'Soft pedal',
  68: 'Legato pedal',
  69: 'Hold 2 pedal',
  71: 'Resonance',
  72: 'Release time',
  73: 'Attack time',
  74: 'Brightness',
  75: 'Decay time',
  76: 'Vibrato rate',
  77: 'Vibrato depth',
  78: 'Vibrato delay',
  84: 'Portamento control',
  91: 'Reverb send',
  92: 'Tremolo',
  93: 'Chorus send',
  94: 'Detune',
  95: 'Phaser',
  98: 'NRPN, fine',
  99: 'NRPN, coarse',
  100: 'RPN, fine',
  101: 'RPN, coarse',
};

/** Returns the name of a controller, 0..127; an empty text for one without a name. */
export function controllerName(controller: number): string {
  return NAMES[controller] ?? '';
}

/** Controllers that musicians draw most; lists show them before the others. */
export const USUAL_CONTROLLERS: readonly number[] = [1, 7, 10, 11, 64, 71, 74, 91, 93];
