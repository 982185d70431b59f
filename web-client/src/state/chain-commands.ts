/** What menus, buttons and keys let one do to chains of effects. */
import type { App } from './app.svelte';
import { addEffect, duplicateEffect, effectsOf, moveEffect, removeEffect } from '../project/edit-effects';
import type { EffectKind } from '../project/effect-kinds';
import type { Effect } from '../project/model';

export class ChainCommands {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  /** Puts a new effect at the end of a chain, and shows it. */
  add(owner: string, kind: EffectKind): void {
    const { song } = this.#app;
    const result = addEffect(song.project, owner, kind);
    song.edit(`Add ${kind.name}`, () => result.project);
    this.show(owner, result.effectId);
  }

  /** Shows an effect in the editor. */
  show(owner: string, effectId: string): void {
    this.#app.song.selectOwner(owner);
    this.select(effectId);
    this.#app.showEditor('effects');
  }

  select(effectId: string): void {
    const { song } = this.#app;
    song.selectedEffectId = effectId;
    song.focus = 'effects';
  }

  remove(owner: string, effect: Effect): void {
    const { song, effectTable } = this.#app;
    const place = effectsOf(song.project, owner).findIndex((one) => one.id === effect.id);
    song.edit(`Remove ${effectTable.nameOf(effect)}`, (project) => removeEffect(project, owner, effect.id));
    // The keys go on with what stands there now.
    const rest = effectsOf(song.project, owner);
    song.selectedEffectId = rest[Math.min(place, rest.length - 1)]?.id ?? null;
  }

  duplicate(owner: string, effect: Effect): void {
    const { song, effectTable } = this.#app;
    const result = duplicateEffect(song.project, owner, effect.id);
    if (!result) return;
    song.edit(`Duplicate ${effectTable.nameOf(effect)}`, () => result.project);
    this.select(result.effectId);
  }

  /** Moves an effect to a place of its chain, counted without itself. */
  move(owner: string, effect: Effect, place: number): void {
    const name = this.#app.effectTable.nameOf(effect);
    this.#app.song.edit(`Move ${name}`, (project) => moveEffect(project, owner, effect.id, place));
  }

  removeSelected(): void {
    this.#withSelected((owner, effect) => this.remove(owner, effect));
  }

  duplicateSelected(): void {
    this.#withSelected((owner, effect) => this.duplicate(owner, effect));
  }

  moveSelected(by: number): void {
    if (by === 0) return;
    this.#withSelected((owner, effect, place) => this.move(owner, effect, place + by));
  }

  #withSelected(act: (owner: string, effect: Effect, place: number) => void): void {
    const { song } = this.#app;
    const owner = song.selectedOwner;
    if (owner === null) return;
    const effects = effectsOf(song.project, owner);
    const place = effects.findIndex((effect) => effect.id === song.selectedEffectId);
    const effect = effects[place];
    if (effect) act(owner, effect, place);
  }
}
