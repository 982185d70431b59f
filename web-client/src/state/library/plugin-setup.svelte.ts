/** The folders that the service searches for plugins, and the scans of these folders. */
import { reasonOf, type Api } from '../../api/client';
import { addPluginFolder, endPluginScans, listPluginFolders, pickPluginFolder, readScans, removePluginFolder, scanPlugins, type ModuleScan, type ScanProgress } from '../../api/plugins';
import type { PluginFolders, PluginProblem, PluginScanResult } from '../../api/types';
import type { Player } from '../../engine/player.svelte';
import type { Session } from '../account/session.svelte';
import { Submission } from '../submission.svelte';
import type { EffectCatalog } from './effect-catalog.svelte';
import type { PluginCatalog } from './plugin-catalog.svelte';
import type { PluginParameters } from './plugin-parameters.svelte';

/** A scan that this page started. */
export type ScanState =
  | { kind: 'none' }
  /** `progress` is null until the service reports it. */
  | { kind: 'running'; startedAtMs: number; progress: ScanProgress | null }
  | { kind: 'done'; instruments: number; effects: number; isTruncated: boolean }
  | { kind: 'failed'; problem: string };

/** A file that a scan could not use. `isModule`: a module, which can be scanned again. */
export type ScanProblem = PluginProblem & { isModule: boolean };

/** File name extensions of modules. */
const MODULE_NAME = /\.(vst3|so|dll|vst|component)$/i;

/** The rights of a user on plugins. */
export type PluginRights = 'manage' | 'use' | 'none';

/** The lists that a scan may change. */
type PluginLists = { plugins: PluginCatalog; effects: EffectCatalog; parameters: PluginParameters };

export class PluginSetup {
  /** Absolute paths of the plugin folders; null before they are read. */
  folders = $state.raw<readonly string[] | null>(null);
  /** Usual plugin folders of the service's system that the user can add. */
  suggestedFolders = $state.raw<readonly string[]>([]);
  scan = $state.raw<ScanState>({ kind: 'none' });
  /** Modules and folders that the last scan could not use. */
  problems = $state.raw<readonly ScanProblem[]>([]);
  /** Files that the last scan left out on purpose, such as second copies of a plugin. */
  ignored = $state.raw<readonly PluginProblem[]>([]);
  /** Reading the folders and the plugins, which may wait for a scan of the service. */
  readonly reading = new Submission();
  /** Changes of the list of folders. */
  readonly submission = new Submission();
  /** Whether a folder dialog is open on the screen of the service's machine. */
  isPicking = $state(false);
  /** Number of changes of the list of folders. A list that was requested earlier is outdated. */
  #changeCount = 0;
  /** Number of scans that this page started. Only the last one is shown. */
  #scanCount = 0;
  readonly #session: Session;
  readonly #catalog: PluginCatalog;
  readonly #effects: EffectCatalog;
  readonly #parameters: PluginParameters;
  readonly #player: Player;

  constructor(session: Session, { plugins, effects, parameters }: PluginLists, player: Player) {
    this.#session = session;
    this.#catalog = plugins;
    this.#effects = effects;
    this.#parameters = parameters;
    this.#player = player;
  }

  /**
   * The rights of the user. Administrators and users on the service's machine manage plugins,
   * because a scan runs the code of plugins. On a server, all others use the plugins that
   * administrators have set up.
   */
  get rights(): PluginRights {
    const { user, isLocal, capabilities } = this.#session;
    if (user?.role === 'admin' || isLocal) return 'manage';
    return capabilities?.environment === 'container' ? 'use' : 'none';
  }

  /** Whether the user can choose a folder in a dialog of the service's machine. */
  get hasFolderDialog(): boolean {
    return this.#session.isLocal;
  }

  /** Reads the folders, the plugins, and the problems of the last scan. */
  async load(): Promise<void> {
    if (this.rights === 'none') return;
    await this.reading.submit(async () => {
      const changeCount = this.#changeCount;
      const folders = await listPluginFolders(this.#session.api);
      if (changeCount === this.#changeCount) this.#setFolders(folders);
      await Promise.all([this.#catalog.load(), this.#effects.load()]);
      if (this.scan.kind === 'none') await this.#loadProblems();
    });
  }

  /** Adds a folder and scans the folders. Returns whether the folder was added. */
  async addFolder(path: string): Promise<boolean> {
    const isAdded = await this.#change((api) => addPluginFolder(api, path));
    if (isAdded) void this.startScan();
    return isAdded;
  }

  /** Lets the user choose a folder on the screen of the service's machine, and adds it. */
  async pickFolder(): Promise<void> {
    let path: string | null = null;
    this.isPicking = true;
    await this.submission.submit(async () => {
      path = await pickPluginFolder(this.#session.api);
    });
    this.isPicking = false;
    if (path !== null) await this.addFolder(path);
  }

  async removeFolder(path: string): Promise<void> {
    const isRemoved = await this.#change((api) => removePluginFolder(api, path));
    if (isRemoved) await this.startScan();
  }

  /**
   * Scans the folders, and `module` also if it has not changed. Plugin tracks are rendered again,
   * because their plugins may have changed.
   */
  async startScan(module: ModuleScan | null = null): Promise<void> {
    const scanNumber = ++this.#scanCount;
    const startedAtMs = Date.now();
    const show = (state: ScanState): void => {
      if (scanNumber === this.#scanCount) this.scan = state;
    };
    show({ kind: 'running', startedAtMs, progress: null });
    let next: ScanState;
    try {
      const result = await scanPlugins(this.#session.api, module, (progress) => show({ kind: 'running', startedAtMs, progress }));
      if (scanNumber !== this.#scanCount) return;
      this.problems = problemsOf(result);
      this.ignored = result.ignored.map(({ path, reason }) => ({ path, problem: reason }));
      await Promise.all([this.#catalog.load(), this.#effects.load()]);
      this.#parameters.forget();
      this.#player.pluginSounds.renderAgain();
      next = { kind: 'done', instruments: result.instruments, effects: result.effects, isTruncated: result.truncated };
    } catch (error) {
      next = { kind: 'failed', problem: reasonOf(error) };
    }
    show(next);
  }

  /** Ends the processes that load plugins for the running scan. Their modules count as failed. */
  async skipScannedModules(): Promise<void> {
    await this.submission.submit(() => endPluginScans(this.#session.api));
  }

  /** Changes the list of folders. Returns whether that succeeded. */
  async #change(request: (api: Api) => Promise<PluginFolders>): Promise<boolean> {
    await this.submission.submit(async () => {
      this.#changeCount += 1;
      this.#setFolders(await request(this.#session.api));
    });
    return this.submission.problem === '';
  }

  #setFolders({ plugin_dirs: folders, suggested }: PluginFolders): void {
    this.folders = folders;
    this.suggestedFolders = suggested;
  }

  async #loadProblems(): Promise<void> {
    const { user, api } = this.#session;
    if (user?.role !== 'admin') return;
    const { plugins } = await readScans(api);
    const lastScan = plugins.find((scan) => scan.user_id === user.id || scan.user_id === null);
    this.problems = (lastScan?.problems ?? []).map((problem) => ({ ...problem, isModule: MODULE_NAME.test(problem.path) }));
  }
}

function problemsOf({ unclassified, unreadable }: PluginScanResult): ScanProblem[] {
  return [
    ...unclassified.map(({ path, reason }) => ({ path, problem: reason, isModule: true })),
    ...unreadable.map(({ path, reason }) => ({ path, problem: reason, isModule: false })),
  ];
}
