import { hash } from 'node:crypto';
import { canonicalAddress } from '#lib/address.ts';
import { isObject } from '#lib/json/text.ts';
import { classOfBounce, classOfComplaint, type ReportClass } from '../../reports/classes.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { oneLine } from '../../reports/one-line.ts';
import {
  diagnosticLength,
  messageIdIn,
  type Report,
  type ReportRequest,
  rawOf,
  reportTypes,
  type UnreadableReport,
} from '../../reports/report.ts';
import { timeIn } from '../../reports/time.ts';

/*
 * SMTP itself reports nothing later. This is JSON for whoever reads the logs of a mail server:
 * `event`, `message_id`, `recipient`, `timestamp`, `bounce_category`, `diagnostic_code`,
 * `complaint_type`, and optionally `id`, as `webhooks.register` documents it. Notifuse 32.2 has
 * these names for its kind `smtp`.
 */

const wordLength = 100;

export function smtpReports({ body }: Pick<ReportRequest, 'body'>): (Report | UnreadableReport)[] {
  return objectsIn(body).map(reportOf);
}

function reportOf(event: unknown): Report | UnreadableReport {
  const raw = JSON.stringify(event);
  if (!isObject(event)) return { key: keyOf(raw), isUnreadable: true };
  const text = (name: string) => textIn(event, name);
  const email = canonicalAddress(text('recipient'));
  if (!email || text('event') === '') return { key: keyOf(raw), isUnreadable: true };
  const category = oneLine(text('bounce_category'), wordLength);
  const diagnostic = oneLine(text('diagnostic_code'), diagnosticLength);
  const complaintType = oneLine(text('complaint_type'), wordLength);
  const id = typeof event.id === 'number' ? `${event.id}` : text('id');
  const names = ['event', 'message_id', 'recipient', 'timestamp', 'bounce_category'];
  const said = [...names, 'diagnostic_code', 'complaint_type'].map(text);
  return {
    ...{ email, category, diagnostic, complaintType, raw: rawOf(event) },
    ...meaningOf(text('event'), { category, words: diagnostic, complaintType }),
    key: id === '' ? keyOf(JSON.stringify(said)) : keyOf(`id ${id}`),
    providerId: undefined,
    messageId: messageIdIn(text('message_id')),
    at: timeIn(text('timestamp')),
  };
}

function meaningOf(
  event: string,
  { category, words, complaintType }: { category: string; words: string; complaintType: string },
): Pick<Report, 'type' | 'class'> {
  const type = reportTypes.find((each) => each === event);
  const classes: Record<string, () => ReportClass | undefined> = {
    bounce: () => classOfBounce({ words, category }),
    complaint: () => classOfComplaint(complaintType),
  };
  return { type, class: type && classes[type]?.() };
}

function textIn(event: Record<string, unknown>, name: string): string {
  const value = event[name];
  return typeof value === 'string' ? value.trim() : '';
}

const keyOf = (text: string) => hash('sha256', text, 'base64url');
