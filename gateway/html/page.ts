import type { RequestAdmission } from '../admission/admission.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';

/** The limits that pages use by themselves. */
export type PageAdmission = Pick<
  RequestAdmission,
  'countWrongLink' | 'enterReports' | 'readBody' | 'requireRoomToWait' | 'waitForLinks'
>;

/** A page for people, outside the JSON API. */
export type HtmlPage = {
  /** The name for logs: the path itself may hold a secret. */
  name: string;
  /**
   * Whether mail programs fetch it. They come from few addresses, so none of these has a share of
   * its own to use up.
   */
  isOfMails?: true;
  /** How to answer if the path is the page's own; undefined for any other path. */
  answer(exchange: Exchange, admission: PageAdmission): (() => Promise<HttpAnswer>) | undefined;
};
