/** Commands of menus, buttons and keys that edit the effects of a track or the master. */
import { addEffect, duplicateEffect, effectsOf, moveEffect, removeEffect } from '../../project/edit-effects';
import type { Effect } from '../../project/model';
import type { EffectCatalog } from '../library/effect-catalog.svelte';
import type { View } from '../view/view.svelte';
import type { Song } from './song.svelte';

export class EffectCommands {
  readonly #song: Song;
  readonly #catalog: EffectCatalog;
  readonly #view: View;

  constructor(song: Song, catalog: EffectCatalog, view: View) {
    this.#song = song;
    this.#catalog = catalog;
    this.#view = view;
  }

  /** Appends a new effect and shows it in the editor. */
  add(channelId: string, effect: Effect): void {
    const addedEffect = addEffect(this.#song.project, channelId, effect);
    const isDone = this.#song.edit(`Add ${this.#catalog.nameOf(effect)}`, () => addedEffect.project);
    if (isDone) this.show(channelId, addedEffect.effectId);
  }

  /** Shows an effect in the editor. */
  show(channelId: string, effectId: string): void {
    this.#song.selection.selectChannel(channelId);
    this.select(effectId);
    this.#view.showEditor('effects');
  }

  select(effectId: string): void {
    const { selection } = this.#song;
    selection.effectId = effectId;
    selection.focus = 'effects';
  }

  /** Removes an effect and selects the effect after it, or the last effect. */
  remove(channelId: string, effect: Effect): void {
    const song = this.#song;
    const index = effectsOf(song.project, channelId).findIndex((candidate) => candidate.id === effect.id);
    const isDone = song.edit(`Remove ${this.#catalog.nameOf(effect)}`, (project) => removeEffect(project, channelId, effect.id));
    if (!isDone) return;
    const remaining = effectsOf(song.project, channelId);
    song.selection.effectId = remaining[Math.min(index, remaining.length - 1)]?.id ?? null;
  }

  duplicate(channelId: string, effect: Effect): void {
    const song = this.#song;
    const copy = duplicateEffect(song.project, channelId, effect.id);
    if (!copy) return;
    const isDone = song.edit(`Duplicate ${this.#catalog.nameOf(effect)}`, () => copy.project);
    if (isDone) this.select(copy.effectId);
  }

  /** Moves an effect within its chain; `index` is its index after the move. */
  move(channelId: string, effect: Effect, index: number): void {
    const name = this.#catalog.nameOf(effect);
    this.#song.edit(`Move ${name}`, (project) => moveEffect(project, channelId, effect.id, index));
  }

  removeSelected(): void {
    this.#withSelected((channelId, effect) => this.remove(channelId, effect));
  }

  duplicateSelected(): void {
    this.#withSelected((channelId, effect) => this.duplicate(channelId, effect));
  }

  moveSelected(offset: number): void {
    if (offset === 0) return;
    this.#withSelected((channelId, effect, index) => this.move(channelId, effect, index + offset));
  }

  /** Calls `command` with the selected effect and its index in the chain, if one is selected. */
  #withSelected(command: (channelId: string, effect: Effect, index: number) => void): void {
    const { selection, project } = this.#song;
    const { channelId } = selection;
    if (channelId === null) return;
    const effects = effectsOf(project, channelId);
    const index = effects.findIndex((effect) => effect.id === selection.effectId);
    const effect = effects[index];
    if (effect) command(channelId, effect, index);
  }
}
