import { bytesOf } from './body.ts';

/** One field at fault. */
export type FieldError = {
  /** Its path, such as `contact.phone`; empty for the body itself. */
  field: string;
  /** The fault, for people. */
  description: string;
};

/** The body of an answer that is an error. */
export type ErrorBody = {
  error: string;
  code: string;
  reason?: string;
  request_id: string;
  details?: FieldError[];
};

/** Any failure of a call. */
export class PostriderError extends Error {
  override name = 'PostriderError';
}

/** No answer came: the server cannot be reached, or the connection broke. */
export class ConnectionError extends PostriderError {
  override name = 'ConnectionError';
}

/** The answer took longer than `timeoutMs`. The operation may have been done. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
}

/** An answer other than 2xx. */
export class ApiError extends PostriderError {
  override name = 'ApiError';
  readonly status: number;
  /** Stable, for programs, such as `not_found`; empty where a proxy answered. */
  readonly code: string;
  /** Why, more exactly than the code; `/docs/errors` of a gateway lists them. */
  readonly reason: string | undefined;
  /** For the operators' logs. */
  readonly requestId: string | undefined;
  /** The fields at fault, if any are. */
  readonly fields: readonly FieldError[];
  /** After which the server asks to try again. */
  readonly retryAfterSeconds: number | undefined;

  /** A proxy may have made the body. */
  constructor(answer: Response, body: Record<keyof ErrorBody, unknown>) {
    super(textOf(body.error) ?? `${answer.status} ${answer.statusText}`.trim());
    this.status = answer.status;
    this.code = textOf(body.code) ?? '';
    this.reason = textOf(body.reason);
    this.requestId = textOf(body.request_id) ?? answer.headers.get('x-request-id') ?? undefined;
    this.fields = [body.details].flat().filter(isFieldError);
    this.retryAfterSeconds = secondsOf(answer.headers.get('retry-after') ?? '');
  }
}

/** 400, 413, 415 and the like: the request has to change. `fields` says where. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}

/** 401: the token is missing, invalid, expired or revoked. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** 403: the token may not do this in this workspace. */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}

/** 404. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 409: it exists already, or another request changed it at the same time. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** 429: too many calls, or a quota is used up. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}

/** 5xx: a fault of the server, or it is overloaded. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const byStatus: Record<number, typeof ApiError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

const bodyMaxBytes = 1_024 * 1_024;

export async function errorOf(answer: Response): Promise<ApiError> {
  const read = bytesOf(answer, bodyMaxBytes).then((bytes) => new TextDecoder().decode(bytes));
  const body = await read.then(JSON.parse).catch(() => undefined);
  const Kind =
    byStatus[answer.status] ?? (answer.status >= 500 ? ServerError : InvalidRequestError);
  return new Kind(answer, Object(body));
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const isFieldError = (value: unknown): value is FieldError =>
  typeof Object(value).field === 'string' && typeof Object(value).description === 'string';

/** `Retry-After` is a number of seconds, or a date such as `Fri, 27 Nov 2026 10:00:00 GMT`. */
function secondsOf(retryAfter: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const at = /^[A-Z]/i.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
