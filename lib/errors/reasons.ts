import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '#gen/google/rpc/error_details_pb.ts';

/** The domain of the reasons, as `google.rpc.ErrorInfo` wants one. */
const domain = 'postrider';

const change = 'Change the request. A repeat gets the same answer.';
const checkId = 'Check the id, and the workspace that the request names.';
const wait = 'Wait as long as `Retry-After` says, then repeat.';
const room = 'Delete what is no longer used.';
const askOwner = 'Ask an owner of the workspace.';

/**
 * Why a call is refused, for programs: stable names, sent as `ErrorInfo.reason` and as `reason` in
 * JSON, each with its code and what a caller can do. `/docs/errors` is made from this table.
 */
export const reasons = {
  REQUEST_INVALID: [Code.InvalidArgument, change],
  IDEMPOTENCY_KEY_REUSED: [Code.AlreadyExists, 'Use a new key for a new request.'],
  IDEMPOTENCY_KEY_IN_USE: [Code.Aborted, 'Wait for the answer to the first request, or repeat.'],
  DEMO_MODE: [Code.FailedPrecondition, 'Use a stack without `DEMO_MODE`.'],

  TOKEN_MISSING: [Code.Unauthenticated, 'Send `Authorization: Bearer …`.'],
  TOKEN_INVALID: [Code.Unauthenticated, 'Sign in again, or use another key.'],
  SIGN_IN_REFUSED: [Code.Unauthenticated, 'Check the signature and its time.'],
  CODE_INVALID: [Code.Unauthenticated, 'Ask for a new code.'],
  PERMISSION_MISSING: [
    Code.PermissionDenied,
    'The text names the permission; ask an owner for it.',
  ],
  NOT_A_MEMBER: [Code.PermissionDenied, 'Check the workspace; there may be none of this name.'],
  NOT_AN_OWNER: [Code.PermissionDenied, askOwner],
  NOT_ROOT: [Code.PermissionDenied, 'Use the token of a root user.'],
  ADDRESS_NOT_ALLOWED: [Code.PermissionDenied, 'The key is bound to other addresses.'],
  SERVICES_ONLY: [Code.PermissionDenied, 'Users and keys may not call it.'],

  WORKSPACE_NOT_FOUND: [Code.NotFound, checkId],
  USER_NOT_FOUND: [Code.NotFound, 'The user was deleted; sign in again.'],
  MEMBER_NOT_FOUND: [Code.NotFound, checkId],
  INVITATION_NOT_FOUND: [
    Code.NotFound,
    'It was withdrawn, accepted or has expired; ask for a new one.',
  ],
  DELETION_NOT_FOUND: [Code.NotFound, 'Check the id, and who deleted the workspace.'],
  SESSION_NOT_FOUND: [Code.NotFound, 'It has ended.'],
  API_KEY_NOT_FOUND: [Code.NotFound, checkId],
  INTEGRATION_NOT_FOUND: [Code.NotFound, checkId],
  DOMAIN_NOT_FOUND: [Code.NotFound, 'Check the name, and the workspace that the request names.'],
  DOMAIN_TEST_NOT_FOUND: [Code.NotFound, 'The last 100 test mails of a workspace are kept.'],
  CONTACT_NOT_FOUND: [Code.NotFound, checkId],
  LIST_NOT_FOUND: [Code.NotFound, checkId],
  MEMBERSHIP_NOT_FOUND: [Code.NotFound, 'The contact was never on the list.'],
  SEGMENT_NOT_FOUND: [Code.NotFound, checkId],
  CUSTOM_EVENT_NOT_FOUND: [Code.NotFound, checkId],
  TEMPLATE_NOT_FOUND: [Code.NotFound, checkId],
  TRANSLATION_NOT_FOUND: [Code.NotFound, 'Translate the template, or use its own language.'],
  TEMPLATE_BLOCK_NOT_FOUND: [Code.NotFound, checkId],
  BROADCAST_NOT_FOUND: [Code.NotFound, checkId],
  NOTIFICATION_NOT_FOUND: [Code.NotFound, checkId],
  REPORTS_NOT_REGISTERED: [Code.NotFound, 'Register it by `webhooks.register`.'],
  MESSAGE_NOT_FOUND: [Code.NotFound, checkId],
  SUPPRESSION_NOT_FOUND: [
    Code.NotFound,
    'Check the address, and the workspace that the request names.',
  ],
  LINKS_NOT_FOUND: [Code.NotFound, 'The mail is too old.'],
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: [Code.NotFound, checkId],
  WEBHOOK_LISTENER_NOT_FOUND: [Code.NotFound, 'Create another one.'],
  WEBHOOK_DELIVERY_NOT_FOUND: [Code.NotFound, 'Only failed deliveries can be sent again.'],

  ALREADY_EXISTS: [Code.AlreadyExists, 'Use another id, or change what is there.'],
  MESSAGE_REPEATED: [Code.AlreadyExists, 'A later message has the same `external_id`.'],
  CHANGED_MEANWHILE: [Code.Aborted, 'Read it again, then repeat.'],

  LIMIT_OF_WORKSPACE: [Code.FailedPrecondition, room],
  BROADCAST_STATUS: [
    Code.FailedPrecondition,
    'Read the broadcast; its status does not allow this.',
  ],
  BROADCAST_WITHOUT_TEST: [Code.FailedPrecondition, 'Give it two variations and a sample.'],
  MESSAGE_STATUS: [Code.FailedPrecondition, 'Read the message; its status does not allow this.'],
  MESSAGE_NOT_SENT: [Code.FailedPrecondition, 'The text has the reason.'],
  NO_EMAIL_PROVIDER: [
    Code.FailedPrecondition,
    'Create an email integration and name it in the settings.',
  ],
  NOTIFICATION_UNUSABLE: [
    Code.FailedPrecondition,
    'Mend the template or the integration that the text names.',
  ],
  PROVIDER_TAKES_NO_MIME: [
    Code.FailedPrecondition,
    'Send through an integration of kind `smtp`, `ses`, `mailgun` or `sparkpost`, or by `transactional.send`.',
  ],
  PART_NOT_FOUND: [
    Code.FailedPrecondition,
    'Something that the broadcast names is gone; the text says what.',
  ],
  FEED_FAILED: [Code.FailedPrecondition, 'Mend the feed; the text has its error.'],
  TEMPLATE_IN_USE: [Code.FailedPrecondition, 'Change what uses it first; the text names it.'],
  INTEGRATION_IN_USE: [Code.FailedPrecondition, 'Change what uses it first; the text names it.'],
  NOTIFICATION_IN_USE: [Code.FailedPrecondition, 'Change what uses it first; the text names it.'],
  LAST_OWNER: [Code.FailedPrecondition, 'Transfer the ownership first.'],
  MEMBER_ROLE: [
    Code.FailedPrecondition,
    'An owner has all permissions; transfer the ownership first.',
  ],
  DOMAIN_KEY_STATE: [
    Code.FailedPrecondition,
    'Read the domain; its keys do not allow this. The text says what is missing.',
  ],
  API_KEY_STATE: [Code.FailedPrecondition, 'Read the key; it has ended, or is being rotated.'],
  NO_SESSION: [Code.FailedPrecondition, 'API keys are revoked, not signed out.'],
  LINK_EXPIRED: [Code.FailedPrecondition, 'Subscribe again, for a new mail.'],
  SYSTEM_MAIL_OFF: [Code.FailedPrecondition, 'Set `SYSTEM_SMTP_URL`.'],
  RETURNED_MAIL_OFF: [Code.FailedPrecondition, 'Set `BOUNCE_DOMAIN`, and run `inbound`.'],

  TOO_MANY: [Code.ResourceExhausted, wait],
  QUOTA_EXCEEDED: [
    Code.ResourceExhausted,
    'Free what the text names, or ask the operator for a larger quota; `workspaces.usage` has all.',
  ],
  SERVICE_UNAVAILABLE: [Code.Unavailable, wait],
  TOOK_TOO_LONG: [
    Code.DeadlineExceeded,
    'It may still have happened. Repeat it, with an `Idempotency-Key` where the operation takes one.',
  ],
  INTERNAL_ERROR: [Code.Internal, 'Repeat later; tell the operator the `request_id`.'],
} as const satisfies Record<string, readonly [code: Code, action: string]>;

export type Reason = keyof typeof reasons;

/** An error with a reason of its own. The text is for people, the reason for programs. */
export function refusal(reason: Reason, text: string): ConnectError {
  return withReason(new ConnectError(text, reasons[reason][0]), reason);
}

/** Adds a reason, unless the error has one or there is none. */
export function withReason(error: ConnectError, reason: Reason | undefined): ConnectError {
  if (reason && error.findDetails(ErrorInfoSchema).length === 0) {
    error.details.push({ desc: ErrorInfoSchema, value: { reason, domain } });
  }
  return error;
}

/** The reason that an error names. */
export function reasonOf(error: unknown): string | undefined {
  return ConnectError.from(error).findDetails(ErrorInfoSchema).at(0)?.reason;
}

/** The reason of errors that name none. Any other code needs a reason of its own. */
const general = new Map<Code, Reason>([
  [Code.InvalidArgument, 'REQUEST_INVALID'],
  [Code.Unauthenticated, 'TOKEN_INVALID'],
  [Code.AlreadyExists, 'ALREADY_EXISTS'],
  [Code.Aborted, 'CHANGED_MEANWHILE'],
  [Code.ResourceExhausted, 'TOO_MANY'],
  [Code.Unavailable, 'SERVICE_UNAVAILABLE'],
  [Code.DeadlineExceeded, 'TOOK_TOO_LONG'],
  [Code.Internal, 'INTERNAL_ERROR'],
]);

export function reasonFor(code: Code): Reason | undefined {
  return general.get(code);
}
