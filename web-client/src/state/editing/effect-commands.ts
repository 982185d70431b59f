/** Commands of menus, buttons and keys that edit the effects of a track or the master. */
import { addEffect, duplicateEffect, effectsOf, moveEffect, removeEffect } from '../../project/edit-effects';
import type { EffectKind } from '../../project/effect-kinds';
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
  add(owner: string, kind: EffectKind): void {
    const added = addEffect(this.#song.project, owner, kind);
    this.#song.edit(`Add ${kind.name}`, () => added.project);
    this.show(owner, added.effectId);
  }

  /** Shows an effect in the editor. */
  show(owner: string, effectId: string): void {
    this.#song.selection.selectOwner(owner);
    this.select(effectId);
    this.#view.showEditor('effects');
  }

  select(effectId: string): void {
    const { selection } = this.#song;
    selection.effectId = effectId;
    selection.focus = 'effects';
  }

  /** Removes an effect and selects the effect after it, or the last effect. */
  remove(owner: string, effect: Effect): void {
    const song = this.#song;
    const index = effectsOf(song.project, owner).findIndex((candidate) => candidate.id === effect.id);
    song.edit(`Remove ${this.#catalog.nameOf(effect)}`, (project) => removeEffect(project, owner, effect.id));
    const remaining = effectsOf(song.project, owner);
    song.selection.effectId = remaining[Math.min(index, remaining.length - 1)]?.id ?? null;
  }

  duplicate(owner: string, effect: Effect): void {
    const song = this.#song;
    const copy = duplicateEffect(song.project, owner, effect.id);
    if (!copy) return;
    song.edit(`Duplicate ${this.#catalog.nameOf(effect)}`, () => copy.project);
    this.select(copy.effectId);
  }

  /** Moves an effect within its chain; `index` is its index after the move. */
  move(owner: string, effect: Effect, index: number): void {
    const name = this.#catalog.nameOf(effect);
    this.#song.edit(`Move ${name}`, (project) => moveEffect(project, owner, effect.id, index));
  }

  removeSelected(): void {
    this.#withSelected((owner, effect) => this.remove(owner, effect));
  }

  duplicateSelected(): void {
    this.#withSelected((owner, effect) => this.duplicate(owner, effect));
  }

  moveSelected(by: number): void {
    if (by === 0) return;
    this.#withSelected((owner, effect, index) => this.move(owner, effect, index + by));
  }

  /** Calls `command` with the selected effect and its index in the chain, if one is selected. */
  #withSelected(command: (owner: string, effect: Effect, index: number) => void): void {
    const { selection, project } = this.#song;
    const { owner } = selection;
    if (owner === null) return;
    const effects = effectsOf(project, owner);
    const index = effects.findIndex((effect) => effect.id === selection.effectId);
    const effect = effects[index];
    if (effect) command(owner, effect, index);
  }
}
