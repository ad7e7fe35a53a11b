import { type ScaleLinear, type ScaleTime, scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import { type Html, html } from '#lib/html/template.ts';
import { percentOf, shortCount, shorten, timeFormat } from './words.ts';

/** The name and description of a plot for screen readers. */
export type Named = { id: string; title: string; description: string };

/** A point in time, and how many there were until then. */
export type Point = { at: Date; count: number };

/** A line of the plot over time. */
export type Line = { name: string; style: string; points: readonly Point[] };

/** A rate and the interval that holds it. */
export type RateRow = { label: string; rate: number; low: number; high: number };

/**
 * Each plot is drawn for wide and for narrow screens, since text in a scaled one could not be read;
 * styles show one of them.
 */
const widths = [
  { width: 760, style: 'wide' },
  { width: 330, style: 'narrow' },
] as const;

type Place = { x: number; y: number };
type Size = { width: number; height: number };

const number = (value: number) => String(Math.round(value * 10) / 10);

function text({ x, y }: Place, style: string, value: string): Html {
  return html`<text x="${number(x)}" y="${number(y)}" class="${style}">${value}</text>`;
}

function rule(from: Place, to: Place, style: string): Html {
  return html`<line x1="${number(from.x)}" y1="${number(from.y)}" x2="${number(to.x)}" y2="${number(to.y)}" class="${style}"/>`;
}

function drawn(named: Named, heightOf: number, draw: (size: Size) => Html): Html {
  const plots = widths.map(({ width, style }) => {
    const id = `${named.id}-${style}`;
    return html`<svg class="plot ${style}" viewBox="0 0 ${number(width)} ${number(heightOf)}" role="img" aria-labelledby="${id} ${id}-about"><title id="${id}">${named.title}</title><desc id="${id}-about">${named.description}</desc>${draw({ width, height: heightOf })}</svg>`;
  });
  return html`${plots}`;
}

const timeHeight = 260;
const labelWidth = 80;
const edge = { top: 14, right: 12, bottom: 28, left: 46 };

/** Lines over time, in UTC. */
export function timePlot(named: Named, lines: readonly Line[]): Html {
  const points = lines.flatMap((each) => each.points);
  const times = points.map(({ at }) => at.getTime());
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(1, ...points.map(({ count }) => count));
  return drawn(named, timeHeight, ({ width, height }) => {
    const x = scaleUtc([new Date(first), new Date(last)], [edge.left, width - edge.right]);
    const y = scaleLinear([0, most], [height - edge.bottom, edge.top]).nice(4);
    return html`${countAxis(y, width)}${timeAxis(x, { width, height })}${lines.map((each) => curve(each, x, y))}`;
  });
}

function countAxis(y: ScaleLinear<number, number>, width: number): Html {
  const ticks = y.ticks(4).filter(Number.isInteger);
  return html`${ticks.map((tick) => {
    const at = y(tick);
    const grid = rule({ x: edge.left, y: at }, { x: width - edge.right, y: at }, 'grid');
    return html`${grid}${text({ x: edge.left - 8, y: at + 4 }, 'end', shortCount(tick))}`;
  })}`;
}

function timeAxis(x: ScaleTime<number, number>, { width, height }: Size): Html {
  const [first, last] = x.domain();
  const format = timeFormat(Number(last) - Number(first));
  const room = { from: edge.left + 12, to: width - edge.right - 12 };
  const ticks = x
    .ticks(width / 110)
    // Labels have no parts of a second.
    .filter((tick) => tick.getMilliseconds() === 0)
    .filter((tick) => x(tick) >= room.from && x(tick) <= room.to);
  // The scale gives about as many as asked for, at round times.
  const [one, two] = ticks.map((tick) => x(tick));
  const every = one === undefined || two === undefined ? 1 : Math.ceil(labelWidth / (two - one));
  const labelled = ticks.filter((_, index) => index % every === 0);
  return html`${labelled.map((tick) => text({ x: x(tick), y: height - 8 }, 'middle', format(tick)))}`;
}

function curve(
  { style, points }: Line,
  x: ScaleTime<number, number>,
  y: ScaleLinear<number, number>,
): Html {
  const place = ({ at }: Point) => x(at);
  const level = ({ count }: Point) => y(count);
  const under = area<Point>(place, y(0), level).digits(1)(points);
  const path = line<Point>(place, level).digits(1)(points);
  return html`<path class="under ${style}" d="${under ?? ''}"/><path class="line ${style}" d="${path ?? ''}"/>`;
}

const rowHeight = 46;
const axisHeight = 26;
const labelCharacters = { wide: 90, narrow: 38 };

/** Rates with their intervals, one below the other. */
export function ratePlot(named: Named, rows: readonly RateRow[]): Html {
  const highest = Math.max(0.01, ...rows.map(({ high }) => high));
  return drawn(named, rows.length * rowHeight + axisHeight, ({ width, height }) => {
    const x = scaleLinear([0, Math.min(1, highest)], [10, width - 26]).nice(4);
    const ticks = x.ticks(width / 110);
    const grid = ticks.map((tick) => {
      const line = rule({ x: x(tick), y: 4 }, { x: x(tick), y: height - axisHeight }, 'grid');
      return html`${line}${text({ x: x(tick), y: height - 8 }, 'middle', percentOf(tick))}`;
    });
    const most = width > 500 ? labelCharacters.wide : labelCharacters.narrow;
    return html`${grid}${rows.map((row, index) => rateRow(row, index, { x, most }))}`;
  });
}

function rateRow(
  { label, rate, low, high }: RateRow,
  index: number,
  { x, most }: { x: ScaleLinear<number, number>; most: number },
): Html {
  const top = index * rowHeight;
  const y = top + 33;
  const ends = [low, high].map((at) =>
    rule({ x: x(at), y: y - 6 }, { x: x(at), y: y + 6 }, 'whisker'),
  );
  return html`${text({ x: 10, y: top + 19 }, 'label', shorten(label, most))}${rule({ x: x(low), y }, { x: x(high), y }, 'whisker')}${ends}<circle cx="${number(x(rate))}" cy="${number(y)}" r="5" class="dot"/>`;
}

/** A bar beside a number that says the same. */
export function bar(share: number): Html {
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8"/><rect class="sent" width="${number(share * 100)}" height="8"/></svg>`;
}

/** Parts of a whole, one after the other. */
export function stackedBar(
  title: string,
  parts: readonly { style: string; share: number }[],
): Html {
  let start = 0;
  const rects = parts.map(({ style, share }) => {
    const rect = html`<rect class="${style}" x="${number(start * 100)}" width="${number(share * 100)}" height="8"/>`;
    start += share;
    return rect;
  });
  return html`<svg class="bar whole" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${title}"><rect class="track" width="100" height="8"/>${rects}</svg>`;
}
