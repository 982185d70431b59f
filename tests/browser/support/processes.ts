/** Finds the helper processes of a service. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the ids of the helper processes below a process. */
export function helpersOf(parent: number): number[] {
  const processes = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(fields[1]), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
    } catch {
      return [];
    }
  });
  const children = processes.filter((process) => process.parent === parent);
  return children.flatMap(({ pid, command }) => [...(command.includes('songfoundry-bridge') ? [pid] : []), ...helpersOf(pid)]);
}
