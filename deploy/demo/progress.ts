import { Presets, SingleBar } from 'cli-progress';

/** A bar on a terminal, and a line now and then where there is none. */
export function progressBar(title: string, total: number) {
  const format = `  ${title.padEnd(9)} {bar} {value}/{total}  {note}`;
  const bar = new SingleBar(
    { format, hideCursor: true, noTTYOutput: true, notTTYSchedule: 1_000 },
    Presets.shades_classic,
  );
  bar.start(total, 0, { note: '' });
  return {
    show: (value: number, note = '') => bar.update(value, { note }),
    end(value: number, note = '') {
      bar.update(value, { note });
      bar.stop();
    },
  };
}
