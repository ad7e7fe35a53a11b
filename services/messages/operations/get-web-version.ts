import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { createLinkReader } from '#lib/keys/signed-link.ts';
import { createTrackingReader } from '#lib/keys/tracking-token.ts';
import { ConcurrencyLimiter, heavyLimits } from '#lib/limits/concurrency-limiter.ts';
import { query } from '#lib/postgres/query.ts';
import { readKeptContent } from '../archive/kept.ts';
import { htmlWithoutMarks, type TargetOf, textWithoutMarks } from '../archive/without-marks.ts';
import type { Context, Methods } from '../context.ts';
import { readToken } from '../links/token.ts';

const notKept = { isKept: false };
/** A workspace's links take a fifth of the thread at most, in which others' mail is sent. */
const restTimes = 4;

export function getWebVersion(context: Context): Methods['getWebVersion'] {
  // Unauthenticated callers may repeat a link, and reading a mail takes time of a thread.
  const limiter = new ConcurrencyLimiter(heavyLimits);
  const targetsOf = targetReader(context);
  return async ({ workspaceId, token }, { signal }) => {
    const id = readToken(context.keyring, workspaceId, token, 'see');
    if (!id) throw invalidField('token', 'the link is not valid');
    const key = { workspaceId, id };
    limiter.noteCall(workspaceId);
    const leave = await limiter.enter(workspaceId, signal);
    // Waits for the database and the thread that reads mails are no work of this thread.
    let workMs = 0;
    const worked = (ms: number) => {
      workMs += ms;
    };
    try {
      if (!(await isThere(context, key))) return notKept;
      const mail = await readKeptContent(context, key).catch(unlessDeleted);
      if (!mail) return notKept;
      const content = await context.reader.read(mail, workspaceId, worked);
      if (!content) return notKept;
      const { subject = '', html = '', text = '' } = content;
      const targetOf = await targetsOf(workspaceId, html);
      const beganMs = performance.now();
      const shown = {
        isKept: true,
        subject: textWithoutMarks(subject, id),
        html: htmlWithoutMarks(html, id, targetOf),
        text: textWithoutMarks(text, id),
      };
      worked(performance.now() - beganMs);
      return shown;
    } finally {
      leave(restTimes * workMs);
    }
  };
}

type Key = { workspaceId: string; id: string };

/** The message of a deleted contact has no address. */
async function isThere({ store }: Context, { workspaceId, id }: Key): Promise<boolean> {
  const found = await query(
    store.fork(),
    "select from messages where workspace_id = $1 and id = $2 and contact_email <> ''",
    [workspaceId, id],
  );
  return found.length > 0;
}

/** The workspace is deleted, and its messages are about to be. */
function unlessDeleted(error: unknown): undefined {
  if (ConnectError.from(error).code !== Code.NotFound) throw error;
}

const counted =
  /\/r\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{43})\/(\d{1,4})(?:\/([A-Za-z0-9_-]{23,2800}))?$/;

/** Reads where the counted links of a mail lead: by their set, or by the signed address. */
function targetReader({ store, keyring }: Context) {
  const readTracking = createTrackingReader(keyring);
  const readSigned = createLinkReader(keyring);
  return async (workspaceId: string, html: string): Promise<TargetOf> => {
    const first = new RegExp(counted.source.replace('$', '')).exec(html);
    const tracked = first?.[2] === undefined ? undefined : readTracking(workspaceId, first[2]);
    const urls = tracked ? await readSet(store, workspaceId, tracked.linkSet) : [];
    return (url) => {
      const [, ofWorkspace, token = '', digits, signed] = counted.exec(url) ?? [];
      if (ofWorkspace !== workspaceId) return undefined;
      const number = Number(digits);
      const target =
        signed === undefined ? urls[number] : readSigned(workspaceId, { token, number, signed });
      // An address with Liquid in it is led to by signed links alone.
      return target !== undefined && !/\{[{%]/.test(target) ? target : undefined;
    };
  };
}

async function readSet(
  store: Context['store'],
  workspaceId: string,
  linkSet: Buffer,
): Promise<readonly string[]> {
  const [row] = await query<{ urls: string[] }>(
    store.fork(),
    'select urls from link_sets where workspace_id = $1 and id = $2',
    [workspaceId, linkSet],
  );
  return row?.urls ?? [];
}
