/** A complaint of MJML about a template. */
export type Issue = {
  /** In the MJML, from 1; meaningless for a visual tree. */
  line: number;
  tag: string;
  message: string;
};

/** A mistake of the template's author: a 400 when the template is stored, part of the response in a preview. */
export class ContentError extends Error {
  override name = 'ContentError';
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[] = []) {
    super(message);
    this.issues = issues;
  }
}
