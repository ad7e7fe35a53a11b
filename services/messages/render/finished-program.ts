/*
 * The program of a mail that goes out as it came, but for what was asked: counted links and a
 * pixel in its HTML, and the fields of an unsubscribe link in its header.
 *
 * A small mail is changed at once, another one in a thread. Where the thread takes too long, or the
 * mail cannot be changed without doubt, it goes out uncounted, and its record says so.
 */
import { ThreadBusyError } from '#lib/killable-thread.ts';
import { mailMaxBytes } from '../mime/buffer.ts';
import { headOf } from '../mime/head.ts';
import { tokenHeader } from '../mime/headers.ts';
import { type Edit, withEdits } from '../mime/html-parts.ts';
import { finishedMail } from '../mime/mail.ts';
import { withoutOthers } from '../mime/without-others.ts';
import { type MailRecipient, oneClick } from './compose.ts';
import type { Program, TrackInThread, WriteMail } from './program.ts';
import { type Counted, type TrackAnswer, type TrackRequest, trackQuickly } from './tracked-mail.ts';

/** A whole mail. */
export type FinishedContent = {
  mail: Buffer;
  /** Absent where its plan decides. */
  counted?: Counted;
  /** Whether it has other recipients, whom the kept copy does not name. */
  hasOthers?: boolean;
};

const everything: Counted = { opens: true, clicks: true };

/** `providerMaxBytes`: of a mail that its provider takes. */
export function finishedProgram(
  plan: Program,
  { mail, counted = everything, hasOthers = false }: FinishedContent,
  providerMaxBytes = Number.POSITIVE_INFINITY,
): Program {
  const maxBytes = Math.min(mailMaxBytes, providerMaxBytes);
  const { writing } = plan;
  const isCounted = writing.tracking !== undefined && (counted.opens || counted.clicks);
  const written = (recipient: MailRecipient, answer: TrackAnswer = { edits: [] }): WriteMail => {
    const edits = [...leavingEdits(mail, recipient), ...('edits' in answer ? answer.edits : [])];
    const note = 'reason' in answer ? `sent without tracking: ${answer.reason}` : undefined;
    const finished = edits.length === 0 ? mail : withEdits(mail, edits);
    const kept = () => withoutOthers(finished, recipient.email);
    return () => finishedMail(finished, { ...(note && { note }), ...(hasOthers && { kept }) });
  };
  const request = ({ trackingToken: token }: MailRecipient): TrackRequest => ({
    ...{ mail, counted, writing, token, maxBytes },
  });
  if (!isCounted) {
    return { ...plan, draft: written, draftAndCompile: async (recipient) => written(recipient) };
  }
  return {
    ...plan,
    draft(recipient) {
      const answer = trackQuickly(request(recipient));
      return answer && written(recipient, answer);
    },
    finish: async (recipient, track) =>
      written(recipient, await trackedBy(track, request(recipient))),
  };
}

async function trackedBy(track: TrackInThread, request: TrackRequest): Promise<TrackAnswer> {
  try {
    return await track(request);
  } catch (error) {
    if (error instanceof ThreadBusyError) throw error;
    return { reason: 'it takes too long to read' };
  }
}

/** The fields of an unsubscribe link (RFC 8058), where the mail is to a list and has none. */
function leavingEdits(mail: Buffer, { urls: { unsubscribe } }: MailRecipient): Edit[] {
  if (unsubscribe === '') return [];
  const head = headOf(mail);
  if (/^list-unsubscribe(?:-post)?[ \t]*:/im.test(head.toString('latin1'))) return [];
  const link = tokenHeader('List-Unsubscribe', `<${unsubscribe}>`).line;
  return [{ start: head.length, end: head.length, bytes: Buffer.from(link + oneClick.line) }];
}
