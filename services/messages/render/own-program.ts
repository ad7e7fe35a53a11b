/*
 * The program of one mail whose content is its own.
 *
 * It borrows headers, values and links of its plan's program, and lives as long as the delivery of
 * its mail. A mail of which nothing is to be made is written as it is. Any other one is rendered in
 * a thread: its Liquid and its HTML are a caller's, and are seen once.
 */
import type { LinkWriting } from '#lib/mail/links.ts';
import type { MailRecipient } from './compose.ts';
import { type FinishedContent, finishedProgram } from './finished-program.ts';
import type { Program, SlowSource } from './program.ts';

/** The content of one mail: a finished one, or texts, of which at least one is there. */
export type OwnContent =
  | FinishedContent
  | {
      subject: string;
      html?: string | undefined;
      text?: string | undefined;
      usesLiquid: boolean;
    };

/**
 * All links share one number: a set of links is kept for good, so that no mail may have its own.
 */
const numbers: SlowSource['numbers'] = { addresses: {}, choices: {}, ranges: [], other: 0 };

/** `providerMaxBytes`: of a mail that its provider takes. */
export function ownProgram(plan: Program, content: OwnContent, providerMaxBytes?: number): Program {
  if ('mail' in content) return finishedProgram(plan, content, providerMaxBytes);
  const { subject, html, text, usesLiquid } = content;
  const isGiven = html === undefined || (text !== undefined && !changesLinks(plan.writing));
  if (!usesLiquid && isGiven) {
    const parts = { subject, html, text: text ?? '' };
    const draft = (recipient: MailRecipient) => () => plan.compose(recipient, parts);
    return { ...plan, draft, draftAndCompile: async (recipient) => draft(recipient) };
  }
  const slow: SlowSource = {
    ...plan.writing,
    ...{ kind: 'html', subject, body: html ?? '', text: text ?? '', numbers, own: { usesLiquid } },
  };
  return { ...plan, slow, draft: isSlow, draftAndCompile: isSlow };
}

/** Whether links are counted, or get UTM values. */
export function changesLinks({ tracking, utm }: LinkWriting): boolean {
  return tracking !== undefined || Object.keys(utm).length > 0;
}

function isSlow(): never {
  throw new Error('the mail is rendered in a thread');
}
