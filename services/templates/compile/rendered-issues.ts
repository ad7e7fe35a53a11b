import type { NodePlace } from '#lib/liquid/markup.ts';
import { Marker } from '#lib/mail/marker.ts';
import { spansOf } from '#lib/mail/marks.ts';
import type { MailSource } from '#lib/mail/source.ts';
import { type Deciding, useOf } from '#lib/mail/structural.ts';
import type { CompiledStructure, StructureRequest } from '#lib/mail/structure.ts';
import type { Issue } from './content-error.ts';

const issuesMax = 20;
const shownMax = 100;
/** The same for all mails of a broadcast. */
const shared = /^\{\{-?\s*(?:workspace|list|broadcast|global_feed|utm_\w+)\b/;

/** Notes the outputs that wrote objects. */
export class PreviewMarker extends Marker {
  readonly objects = new Set<number>();

  object({ begin }: NodePlace): void {
    this.objects.add(begin);
  }
}

/** Effects of values that the author of a mail may not mean. */
export function renderedIssues(
  { text }: MailSource,
  { objects }: PreviewMarker,
  { compiled, request }: { compiled: CompiledStructure; request: StructureRequest },
): Issue[] {
  const outputs = outputsOf(request);
  const all = compiled.deciding.flat();
  const issueAt = (code: Issue['code'], begin: number, about: string): Issue => {
    const line = text.slice(0, begin).split('\n').length;
    return { code, line, tag: 'html', message: `${outputAt(text, begin)}: ${about}` };
  };
  const each = all
    .flatMap((deciding) => (deciding.by === 'value' ? (outputs.get(deciding.number) ?? []) : []))
    .filter((begin) => !shared.test(text.slice(begin)));
  const issues = [
    ...[...objects].map((begin) =>
      issueAt('object_as_text', begin, 'an object is written as JSON; name one of its fields'),
    ),
    ...[...new Set(each)].map((begin) =>
      issueAt(
        'compiled_for_each',
        begin,
        'a mail is compiled for each of its values, about 150 a second',
      ),
    ),
    ...all.flatMap((deciding) => stoppedLink(deciding, request)),
  ];
  return issues.slice(0, issuesMax);
}

function stoppedLink(deciding: Deciding, { marked: { values } }: StructureRequest): Issue[] {
  if (deciding.by === 'value' || useOf(deciding, values) !== 'stopped;') return [];
  const written = deciding.parts.map((part) =>
    typeof part === 'string' ? part : (values[part]?.text ?? ''),
  );
  const address = written.join('').slice(0, shownMax);
  const message = `the link ${address} becomes #: a link that begins with a value leads to https:, http:, mailto:, tel:, sms: or a scheme in the workspace's link_schemes`;
  return [{ code: 'link_stopped', line: 0, tag: 'html', message }];
}

/** The place of the output that wrote a mark, by the mark's number. */
function outputsOf({ marked: { source, nonce } }: StructureRequest): Map<number, number> {
  const values = spansOf(source, nonce).flatMap((span) =>
    span.kind === 'value' ? [[span.number, span.begin] as const] : [],
  );
  return new Map(values);
}

function outputAt(source: string, begin: number): string {
  const end = source.indexOf('}', begin);
  return source.slice(begin, Math.min(end < 0 ? source.length : end + 2, begin + shownMax));
}
