import type { JsonObject } from '@bufbuild/protobuf';

/** A template's source, as text, so that its size is known before it is parsed. */
export type Source = {
  kind: 'mjml' | 'tree';
  text: string;
  /** The source that wraps it. */
  layout?: Source;
};

export function mjmlSource(text: string): Source {
  return { kind: 'mjml', text };
}

/** A visual editor's block tree. */
export function treeSource(tree: JsonObject | undefined): Source {
  return { kind: 'tree', text: JSON.stringify(tree ?? {}) };
}
