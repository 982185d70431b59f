/** The plugins that the user has marked as favourites, which this browser remembers. */
import type { VstPlugin } from '../../api/types';
import { readStored, writeStored } from '../local-storage';

const STORAGE_KEY = 'favouritePlugins';

const keyOf = ({ format, plugin_id: id }: Pick<VstPlugin, 'format' | 'plugin_id'>): string => `${format} ${id}`;

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string');

export class FavouritePlugins {
  #keys = $state.raw<ReadonlySet<string>>(new Set(readStored(STORAGE_KEY, [], isTexts)));

  has(plugin: VstPlugin): boolean {
    return this.#keys.has(keyOf(plugin));
  }

  toggle(plugin: VstPlugin): void {
    const keys = new Set(this.#keys);
    if (!keys.delete(keyOf(plugin))) keys.add(keyOf(plugin));
    this.#keys = keys;
    writeStored(STORAGE_KEY, [...keys]);
  }
}
