import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { colours } from '#lib/html/palette.ts';
import { latenessMinutesMax } from './load.ts';

export type Curve = { name: string; points: { recipients: number; minutes: number }[] };

const [width, height] = [760, 420];
const edge = { top: 40, right: 52, bottom: 56, left: 64 };
const [quiet] = colours.quiet;
const [track] = colours.track;
const lineColours = [colours.bad, colours.warn, colours.accent, colours.good].map(
  ([light]) => light,
);
const recipientsTicks = [1e5, 1e6, 1e7, 1e8, 1e9];
const minutesTicks: [minutes: number, text: string][] = [
  [1, '1 min'],
  [5, '5 min'],
  [15, '15 min'],
  [60, '1 h'],
  [240, '4 h'],
  [1_440, '1 day'],
];
const target = 1e8;

/** How late a day's mail is, by recipients a day and fleet, as an SVG that stands by itself. */
export function drawLateness(curves: readonly Curve[]): string {
  const x = scaleLog([1e5, 1e9], [edge.left, width - edge.right]);
  const y = scaleLog([0.8, 2_000], [height - edge.bottom, edge.top]).clamp(true);
  const path = line<Curve['points'][number]>(
    ({ recipients }) => round(x(recipients)),
    ({ minutes }) => round(y(Math.max(0.8, minutes))),
  );
  const rows = minutesTicks.map(
    ([minutes, text]) =>
      `<line x1="${edge.left}" x2="${width - edge.right}" y1="${round(y(minutes))}" y2="${round(y(minutes))}" stroke="${minutes === latenessMinutesMax ? quiet : track}"${minutes === latenessMinutesMax ? ' stroke-dasharray="5 4"' : ''}/>
<text x="${edge.left - 8}" y="${round(y(minutes) + 4)}" text-anchor="end">${text}</text>`,
  );
  const columns = recipientsTicks.map(
    (recipients) =>
      `<line x1="${round(x(recipients))}" x2="${round(x(recipients))}" y1="${edge.top}" y2="${height - edge.bottom}" stroke="${recipients === target ? quiet : track}"${recipients === target ? ' stroke-dasharray="5 4"' : ''}/>
<text x="${round(x(recipients))}" y="${height - edge.bottom + 20}" text-anchor="middle">${count(recipients)}</text>`,
  );
  const lines = curves.map(
    ({ points }, at) =>
      `<path d="${path(points)}" fill="none" stroke="${lineColours[at]}" stroke-width="2.5"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2933" role="img" aria-label="Lateness by recipients a day">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${edge.left}" y="22" font-weight="600">Minutes until all but 5 % of broadcast mail has left</text>
${[...rows, ...columns, ...lines, ...legend(curves)].join('\n')}
<text x="${(edge.left + width - edge.right) / 2}" y="${height - 14}" text-anchor="middle">recipients a day</text>
</svg>
`;
}

const legendAt = { x: edge.left + 14, y: edge.top + 18, step: 20 };

function legend(curves: readonly Curve[]): string[] {
  const [boxWidth, boxHeight] = [250, curves.length * legendAt.step + 10];
  const box = `<rect x="${legendAt.x - 8}" y="${legendAt.y - 16}" width="${boxWidth}" height="${boxHeight}" fill="#fff" stroke="${track}"/>`;
  const rows = curves.map(({ name }, at) => {
    const y = legendAt.y + at * legendAt.step;
    return `<line x1="${legendAt.x}" x2="${legendAt.x + 24}" y1="${y - 4}" y2="${y - 4}" stroke="${lineColours[at]}" stroke-width="2.5"/><text x="${legendAt.x + 32}" y="${y}">${name}</text>`;
  });
  return [box, ...rows];
}

const round = (value: number): number => Math.round(value * 10) / 10;

export function count(recipients: number): string {
  return recipients >= 1e6
    ? `${(recipients / 1e6).toLocaleString('en')} million`
    : recipients.toLocaleString('en');
}
