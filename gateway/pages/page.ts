import type { Answer } from '../http/answer.ts';
import type { ReadBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';

/** A page for people, outside the JSON API. */
export type Page = {
  /** The name for logs: the path itself may hold a secret. */
  name: string;
  /** Answers if the path is the page's own; undefined for any other path. */
  answer(exchange: Exchange, readBody: ReadBody): Promise<Answer> | undefined;
};
