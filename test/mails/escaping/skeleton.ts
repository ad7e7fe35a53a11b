import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { tokensOf } from '../tokens.ts';

type Node = DefaultTreeAdapterMap['node'];

/** The elements of HTML with the names of their attributes, as a browser builds them, in order. */
function skeletonOf(html: string): string[] {
  const found: string[] = [];
  const walk = (node: Node) => {
    if ('tagName' in node) {
      found.push(`<${[node.tagName, ...node.attrs.map(({ name }) => name).toSorted()].join(' ')}>`);
    }
    if ('childNodes' in node) node.childNodes.forEach(walk);
    if ('content' in node) walk(node.content);
    if (node.nodeName === '#comment' && 'data' in node) found.push(...forOutlook(node.data));
  };
  walk(parse(html));
  return found;
}

/** Elements in a comment that Outlook reads. */
function forOutlook(comment: string): string[] {
  if (!comment.startsWith('[if')) return [];
  return tokensOf(comment)
    .filter(({ kind }) => kind === 'tag')
    .map(
      ({ name, attributes }) =>
        `<${[name, ...attributes.map((each) => each.name).toSorted()].join(' ')}>`,
    );
}

/**
 * Elements that HTML has more often than other HTML. Line breaks are left out: decoding makes some
 * of any text, and `newline_to_br` shows them.
 */
export function surplusOf(html: string, other: string): string[] {
  return surplus(skeletonOf(html), skeletonOf(other)).filter((each) => each !== '<br>');
}

function surplus(first: readonly string[], second: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const each of second) left.set(each, (left.get(each) ?? 0) + 1);
  return first.filter((each) => {
    const count = left.get(each) ?? 0;
    left.set(each, count - 1);
    return count <= 0;
  });
}
