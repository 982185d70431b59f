/** The entries of the context menus of both rulers. */
import { loopOf } from '../../project/loop';
import { TIME_EVENT_LANES } from '../../project/time-events';
import type { Editing, Playback } from '../../state/contexts';
import type { MenuEntry } from '../../ui/menu-entry';

/** Returns the commands for a tick of the song, at which the ruler was pressed. */
export function rulerEntries({ song, loopCommands }: Editing, { transport }: Playback, tick: number): MenuEntry[] {
  const inserts = TIME_EVENT_LANES.map((lane): MenuEntry => {
    const at = lane.snap(song.project, tick, false);
    return {
      kind: 'command',
      label: `Insert ${lane.noun} here`,
      disabled: lane.insert(song.project, at) === song.project,
      action: () => song.edit(`Insert ${lane.noun}`, (project) => lane.insert(project, at)),
    };
  });
  const loop = loopOf(song.project);
  return [
    { kind: 'command', label: 'Move the playhead here', action: () => transport.seek(tick) },
    { kind: 'separator' },
    { kind: 'command', label: 'Start the loop here', action: () => loopCommands.setEnd('start', tick) },
    { kind: 'command', label: 'End the loop here', disabled: tick === 0, action: () => loopCommands.setEnd('end', tick) },
    { kind: 'command', label: 'Loop selection', action: () => loopCommands.loopSelection() },
    { kind: 'switch', label: 'Loop', checked: loop?.active ?? false, action: () => loopCommands.toggle() },
    { kind: 'separator' },
    ...inserts,
  ];
}
