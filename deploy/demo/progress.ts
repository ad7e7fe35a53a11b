import { Presets, SingleBar } from 'cli-progress';

type Change = { total?: number; note?: string };

/** A progress bar on a terminal, occasional lines elsewhere. */
export function progressBar(title: string, known = 0) {
  const format = `  ${title.padEnd(9)} {bar} {value}/{total}  {note}`;
  const bar = new SingleBar(
    { format, hideCursor: true, emptyOnZero: true, noTTYOutput: true, notTTYSchedule: 1_000 },
    Presets.shades_classic,
  );
  return {
    show(value: number, { total = known, note = '' }: Change = {}): void {
      if (!bar.isActive) bar.start(total, value, { note });
      bar.setTotal(total);
      bar.update(value, { note });
    },
    end: () => bar.stop(),
  };
}
