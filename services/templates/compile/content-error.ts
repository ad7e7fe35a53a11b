/** The kind of an issue. */
export type IssueCode =
  | 'mjml'
  | 'image_without_alt'
  | 'clipped'
  | 'no_unsubscribe_link'
  | 'no_web_version'
  | 'unknown_variable'
  | 'object_as_text'
  | 'link_stopped'
  | 'compiled_for_each';

/** A complaint about a template. */
export type Issue = {
  code: IssueCode;
  /** In the MJML or the part, from 1; meaningless for a visual tree, 0 for the whole mail. */
  line: number;
  /** An element, or a part of the mail. */
  tag: string;
  message: string;
};

/**
 * A mistake of the template's author: a 400 when the template is stored, part of the response in a
 * preview.
 */
export class ContentError extends Error {
  override name = 'ContentError';
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[] = []) {
    super(message);
    this.issues = issues;
  }
}
