import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The metrics of this process. Labels are names of ours and codes: never an address, an id of a
 * recipient, or free text.
 */
export const registry = new Registry();

/** From a read of one row to a call that waits for a mail server. */
const secondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Whether it is left out of a scrape when it cannot be read. */
type Reading<Label extends string> = (
  set: (value: number, labels?: Partial<Record<Label, string | number>>) => void,
) => void | Promise<void>;

export function counter<Label extends string = never>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

export function seconds<Label extends string = never>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets: secondsBuckets, registers: [registry] });
}

/** A gauge whose values are read at each scrape. A value that cannot be read is left out. */
export function gauge<Label extends string = never>(
  { name, help, labelNames = [] }: { name: string; help: string; labelNames?: readonly Label[] },
  read: Reading<Label>,
): void {
  // Once a process; a test opens several stores in one.
  registry.removeSingleMetric(name);
  new Gauge<Label>({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      try {
        await read((value, labels) =>
          labels ? this.set(labels as Record<Label, string | number>, value) : this.set(value),
        );
      } catch {
        this.remove();
      }
    },
  });
}
