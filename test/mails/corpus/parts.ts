import type { JsonObject } from '@bufbuild/protobuf';

/** The content of a mail, and the values of one recipient of whom all is known. */
export type Topic = {
  name: string;
  subject: string;
  preview?: string;
  /** The author's own text part. */
  text?: string;
  /** Liquid before the MJML. */
  before?: string;
  head?: string;
  /** Sections, and Liquid between them. */
  body: string;
  data: JsonObject;
};

/** The look of a sender's mails: what stands around every topic. */
export type Look = {
  name: string;
  before?: string;
  /** Attributes of the root and of the body. */
  root?: string;
  page?: string;
  head: string;
  header: string;
  footer: string;
  data: JsonObject;
};

/** A section of one column. */
export const section = (content: string, attributes = '') =>
  `<mj-section ${attributes}><mj-column>${content}</mj-column></mj-section>\n`;
