import type { Difference } from './difference.ts';
import type { GivenMail } from './given.ts';

/** Differences of one kind. */
export type Finding = {
  kind: string;
  count: number;
  /** Templates that show it. */
  templates: Set<string>;
  /** The mail with the shortest template, and what it shows. */
  example: { mail: GivenMail; difference: Difference };
};

/** The differences that a run has found, by kind. */
export class Findings {
  readonly #byKind = new Map<string, Finding>();
  mails = 0;
  different = 0;

  add(template: string, mail: GivenMail, differences: readonly Difference[]): void {
    this.mails += 1;
    if (differences.length > 0) this.different += 1;
    for (const difference of differences) this.#addOne(template, { mail, difference });
  }

  get kinds(): Finding[] {
    return [...this.#byKind.values()].toSorted((a, b) => b.count - a.count);
  }

  #addOne(template: string, example: Finding['example']): void {
    const { kind } = example.difference;
    const known = this.#byKind.get(kind);
    if (!known) {
      this.#byKind.set(kind, { kind, count: 1, templates: new Set([template]), example });
      return;
    }
    known.count += 1;
    known.templates.add(template);
    if (example.mail.mjml.length < known.example.mail.mjml.length) known.example = example;
  }
}
