/**
 * A second machine for the service: a network namespace with its own address, behind a virtual
 * cable.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, type RunningService } from './service';

/** Returns a command that runs as root. Users other than root need `sudo` without a password. */
function asRoot(...command: string[]): string[] {
  return process.getuid?.() === 0 ? command : ['sudo', '--non-interactive', '--preserve-env', ...command];
}

function run(...command: string[]): void {
  const [program = '', ...args] = command;
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function runAsRoot(...command: string[]): void {
  run(...asRoot(...command));
}

/**
 * Creates a certificate for an address, which is valid for a day, and its key. Returns the
 * settings.
 */
function makeCertificate(folder: string, address: string): { SF_TLS_CERT: string; SF_TLS_KEY: string } {
  const files = { SF_TLS_CERT: join(folder, 'cert.pem'), SF_TLS_KEY: join(folder, 'key.pem') };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.SF_TLS_KEY];
  const names = ['-subj', `/CN=${address}`, '-addext', `subjectAltName=IP:${address}`];
  run('openssl', 'req', '-x509', '-days', '1', ...key, '-out', files.SF_TLS_CERT, ...names);
  return files;
}

/** A second machine. */
export type OtherMachine = {
  address: string;
  /** Starts a service on the machine, with settings of a server for many people. */
  serve: (encrypted: boolean) => Promise<RunningService>;
  /** Removes the machine. */
  unplug: () => void;
};

/** Creates a machine. Its name and addresses contain the process id, so that they are unique. */
export function plugIn(): OtherMachine {
  const name = `sf${process.pid}`;
  const subnet = `10.213.${process.pid % 256}`;
  const address = `${subnet}.2`;
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-machine-'));
  runAsRoot('ip', 'netns', 'add', name);
  runAsRoot('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  // IPv6 is off. An IPv6 address would appear a second or two later, and the browser aborts loading
  // when addresses change.
  if (existsSync('/proc/sys/net/ipv6')) runAsRoot('ip', 'link', 'set', name, 'addrgenmode', 'none');
  runAsRoot('ip', 'address', 'add', `${subnet}.1/24`, 'dev', name);
  runAsRoot('ip', 'link', 'set', name, 'up');
  for (const ipCommand of [`address add ${address}/24 dev eth0`, 'link set eth0 up', 'link set lo up']) {
    runAsRoot('ip', '-n', name, ...ipCommand.split(' '));
  }
  const settings = {
    SF_HOST: address,
    SF_ENVIRONMENT: 'container',
    SF_JWT_SECRET: 'a secret of this test and of no other one',
  };
  return {
    address,
    serve: (encrypted) =>
      startService(
        encrypted ? { ...settings, ...makeCertificate(folder, address) } : settings,
        asRoot('ip', 'netns', 'exec', name),
      ),
    unplug: () => {
      // The cable is removed with the namespace.
      runAsRoot('ip', 'netns', 'delete', name);
      rmSync(folder, { recursive: true });
    },
  };
}
