import type { AnyDesc } from '@bufbuild/protobuf';
import { comments } from '#gen/postrider/comments.ts';

/** The comment of a part of the contract, as Markdown. */
export function commentOf(desc: AnyDesc): string {
  return comments.get(nameOf(desc)) ?? '';
}

function nameOf(desc: AnyDesc): string {
  switch (desc.kind) {
    case 'message':
    case 'enum':
    case 'service':
    case 'extension':
      return desc.typeName;
    case 'file':
      return desc.name;
    default:
      return `${desc.parent.typeName}.${desc.name}`;
  }
}

/** An error that an operation documents, by the code's name, such as NOT_FOUND. */
export type OperationOutcome = { code: string; text?: string; reason: string };

const outcomes =
  /(?<![A-Z_`])([A-Z]{3,}(?:_[A-Z]+)+|UNAUTHENTICATED|UNAVAILABLE|ABORTED)(?: \(([^)]*)\))?:\s+/g;

/** Splits the comment of an RPC into its description and its errors. */
export function readComment(comment: string): {
  description: string;
  outcomes: OperationOutcome[];
} {
  const found = [...comment.matchAll(outcomes)];
  const [first] = found;
  if (!first) return { description: comment, outcomes: [] };
  const read = found.map((match, index): OperationOutcome => {
    const [all, code = '', texts = ''] = match;
    const reason = comment.slice(match.index + all.length, found[index + 1]?.index).trim();
    const [, text] = /`([^`]+)`/.exec(texts) ?? [];
    return { code, text, reason: onOneLine(reason) };
  });
  return { description: comment.slice(0, first.index).trim(), outcomes: read };
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** `ListContactLists` as a title: `List contact lists`. */
export function titleOf(name: string): string {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g) ?? [name];
  const spoken = words.map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()));
  const text = spoken.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
