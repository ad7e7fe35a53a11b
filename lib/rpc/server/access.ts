import { type DescMethod, getOption } from '@bufbuild/protobuf';
import {
  type ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
  type UnaryRequest,
} from '@connectrpc/connect';
import { type Operation, operation } from '#gen/postrider/options/v1/options_pb.ts';
import type { AuthorizeResponse } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { invalidField, refusedInDemo } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Claims, Keyring } from '#lib/keys/keyring.ts';
import { isInNetworks } from '#lib/networks/networks.ts';
import { bearerToken, invalidToken, missingToken } from '../bearer.ts';
import { clientAddressHeader, clientAddressTokenHeader, peerAddressHeader } from '../wire.ts';

/** The caller's permissions in the workspace of its request. */
export type Membership = {
  workspaceId: string;
  isOwner: boolean;
  may(resource: string, action: 'read' | 'write'): boolean;
};

const claimsKey = createContextKey<Claims | undefined>(undefined);
const membershipKey = createContextKey<Membership | undefined>(undefined);
const directKey = createContextKey(false);

/** The claims of the caller. Throws in an operation that needs no token. */
export function callerOf(context: Pick<HandlerContext, 'values'>): Claims {
  const claims = context.values.get(claimsKey);
  if (!claims) throw new Error('this operation has no caller');
  return claims;
}

/** The claims of the caller; undefined in an operation that needs no token. */
export function claimsIn(values: HandlerContext['values']): Claims | undefined {
  return values.get(claimsKey);
}

/**
 * The user and workspace of a call, for limits. Calls of services have no user; direct ones have
 * not come through the gateway, which counts the others by user and address itself. A workspace is
 * named once the caller's membership is known.
 */
export function limitedBy(values: HandlerContext['values']): {
  user: string | undefined;
  workspaceId: string;
  isDirect: boolean;
} {
  const claims = values.get(claimsKey);
  const isUser = claims !== undefined && claims.type !== 'service';
  return {
    user: isUser ? claims.subject : undefined,
    workspaceId: values.get(membershipKey)?.workspaceId ?? '',
    isDirect: values.get(directKey),
  };
}

/** The caller and workspace of a call, for logs; unknown or malformed ones are left out. */
export function namesOf({ method, message, contextValues }: UnaryRequest): {
  workspaceId?: string;
  caller?: string;
} {
  const guard = operationOf(method);
  const workspaceId = guard ? workspaceIn(message, guard) : '';
  return {
    ...(workspaceIdForm.test(workspaceId) ? { workspaceId } : {}),
    caller: contextValues.get(claimsKey)?.subject,
  };
}

/** The workspace whose membership was checked for this request. */
export function workspaceOf(context: Pick<HandlerContext, 'values'>): string {
  const membership = context.values.get(membershipKey);
  if (!membership) throw new Error('this operation has no workspace');
  return membership.workspaceId;
}

/** Whether the caller has a permission beyond the one that its operation requires. */
export function hasPermission(
  context: Pick<HandlerContext, 'values'>,
  resource: string,
  action: 'read' | 'write',
): boolean {
  return context.values.get(membershipKey)?.may(resource, action) === true;
}

/** Whether the caller is an owner of the workspace: for what permissions do not give. */
export function isOwner(context: Pick<HandlerContext, 'values'>): boolean {
  return context.values.get(membershipKey)?.isOwner === true;
}

/** For operations with a part that needs a second permission. */
export function requirePermission(
  context: Pick<HandlerContext, 'values'>,
  resource: string,
  action: 'read' | 'write',
): void {
  if (!hasPermission(context, resource, action)) throw missingPermission(resource, action);
}

function missingPermission(resource: string, action: string): ConnectError {
  return refusal(
    'PERMISSION_MISSING',
    `Insufficient permissions: ${action} access to ${resource} required`,
  );
}

const operations = new WeakMap<DescMethod, Operation>();

/** The options of one of our methods; methods of other packages (health, reflection) have none. */
export function operationOf(method: DescMethod): Operation | undefined {
  // Cached, since descriptors keep options encoded, and every call reads them several times.
  const options = operations.get(method) ?? getOption(method, operation);
  operations.set(method, options);
  return options.access ? options : undefined;
}

/** Whether a method may be called without a token. */
export function isPublic(method: DescMethod): boolean {
  return operationOf(method)?.access?.rule.case === 'public';
}

/** Empty if the call has no address: limits by client count all such callers as one. */
export function clientAddressOf({ requestHeader }: Pick<HandlerContext, 'requestHeader'>): string {
  return requestHeader.get(clientAddressHeader) ?? '';
}

/**
 * Reads the token before the body is read. Throws Unauthenticated, or Unavailable where a token
 * cannot be checked now.
 */
export function tokenGate(keyring: Keyring) {
  return async ({ method, requestHeader, values }: HandlerContext): Promise<void> => {
    const rule = operationOf(method)?.access?.rule.case;
    if (rule === undefined) return;
    const header = requestHeader.get('authorization');
    const caller = { header, client: requestHeader.get(peerAddressHeader) ?? '' };
    const claims = rule === 'public' ? await known(keyring, caller) : await bearer(keyring, caller);
    // Otherwise anyone who reaches the port could use up the limits of another client, or use a key
    // from anywhere.
    if (claims?.type !== 'service' && !(await isVouchedFor(keyring, requestHeader))) {
      const peer = requestHeader.get(peerAddressHeader);
      if (peer) requestHeader.set(clientAddressHeader, peer);
      else requestHeader.delete(clientAddressHeader);
      values.set(directKey, true);
    }
    if (rule !== 'public') values.set(claimsKey, claims);
  };
}

type Caller = { header: string | null; client: string };

/** Whether the gateway has sent the address of its client, beside the client's own token. */
async function isVouchedFor(keyring: Keyring, requestHeader: Headers): Promise<boolean> {
  const header = requestHeader.get(clientAddressTokenHeader);
  return header !== null && (await known(keyring, { header, client: '' }))?.type === 'service';
}

/** The claims of a valid Authorization header, for operations that need none. */
async function known(keyring: Keyring, { header }: Caller): Promise<Claims | undefined> {
  const { token } = bearerToken(header);
  // Only those of services matter, and workspaces need not be asked for any other.
  return token === undefined ? undefined : keyring.verifyServiceToken(token);
}

/** The claims of an Authorization header. */
async function bearer(keyring: Keyring, { header, client }: Caller): Promise<Claims> {
  const { token, fault } = bearerToken(header || undefined);
  if (token === undefined) throw unauthenticated(fault);
  const claims = await keyring.verifyToken(token, client);
  if (!claims) throw unauthenticated(invalidToken);
  return claims;
}

function unauthenticated(text: string): ConnectError {
  return refusal(text === missingToken ? 'TOKEN_MISSING' : 'TOKEN_INVALID', text);
}

export type Authorize = (
  userId: string,
  sessionId: string,
  workspaceId: string,
) => Promise<
  Pick<AuthorizeResponse, 'active' | 'root' | 'role' | 'permissions' | 'allowedAddresses'>
>;

export type AccessOptions = { authorize: Authorize; demo: boolean };

/** A call, as far as it is known before its message. */
type Call = { method: DescMethod; header: Headers; values: HandlerContext['values'] };

/**
 * Throws where a call breaks the access rule of its proto. Of the message it reads the workspace
 * alone.
 */
export type Access = (call: Call, message: object) => Promise<void>;

/** Unknown and foreign workspaces get the same answer, so that it does not reveal which exist. */
export function accessCheck(options: AccessOptions): Access {
  return async ({ method, header, values }, message) => {
    const guard = operationOf(method);
    if (!guard) return;
    if (guard.refusedInDemo && options.demo) throw refusedInDemo();
    const rule = guard.access?.rule;
    const workspaceId = workspaceIn(message, guard);
    if (rule?.case === 'public') return requireForm(workspaceId, guard);
    const claims = values.get(claimsKey);
    if (!claims) throw unauthenticated(missingToken);
    if (claims.type === 'service') {
      requireForm(workspaceId, guard);
      values.set(membershipKey, { workspaceId, isOwner: true, may: () => true });
      return;
    }
    if (rule?.case === 'service') {
      throw refusal('SERVICES_ONLY', 'only other services may call this');
    }
    const address = header.get(clientAddressHeader) ?? '';
    const membership = await checkRule(options.authorize, { claims, address }, guard, workspaceId);
    values.set(membershipKey, membership);
  };
}

/** Checks every call against the access rule of its proto. */
export function accessInterceptor(check: Access): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { method, header, contextValues: values, message } = request;
    await check({ method, header, values }, message);
    return next(request);
  };
}

/** No permission makes an API key an owner, so the text says who can make the call. */
export function notAnOwner({ type }: Pick<Claims, 'type'>): ConnectError {
  const text = 'user is not an owner of the workspace';
  const advice =
    ': no API key can do this, whatever its permissions; an owner who is signed in can';
  return refusal('NOT_AN_OWNER', type === 'api_key' ? `${text}${advice}` : text);
}

async function checkRule(
  authorize: Authorize,
  { claims, address }: { claims: Claims; address: string },
  guard: Operation,
  workspaceId: string,
): Promise<Membership> {
  const rule = guard.access?.rule;
  const inWorkspace = rule?.case === 'member' || rule?.case === 'owner';
  // An impossible id is answered like that of an unknown workspace, without a lookup.
  const isAsked = inWorkspace && workspaceIdForm.test(workspaceId);
  const subject = await authorize(claims.subject, claims.sessionId, isAsked ? workspaceId : '');
  if (!subject.active) throw unauthenticated(invalidToken);
  const { allowedAddresses } = subject;
  if (allowedAddresses.length > 0 && !isInNetworks(allowedAddresses, address)) {
    throw refusal('ADDRESS_NOT_ALLOWED', 'this API key may not be used from this address');
  }
  const may: Membership['may'] = (resource, action) =>
    subject.role === 'owner' || subject.permissions[resource]?.[action] === true;
  if (rule?.case === 'root' && !subject.root) {
    throw refusal('NOT_ROOT', 'root user access required');
  }
  if (inWorkspace && workspaceId === '') {
    const field = workspaceFieldOf(guard);
    throw invalidField(field, field === 'id' ? 'Missing workspace ID' : `${field} is required`);
  }
  if (inWorkspace && (!isAsked || subject.role === '')) {
    throw refusal('NOT_A_MEMBER', 'user is not a member of the workspace');
  }
  if (rule?.case === 'owner' && subject.role !== 'owner') throw notAnOwner(claims);
  if (rule?.case === 'member') {
    const action = rule.value.write ? 'write' : 'read';
    if (!may(rule.value.resource, action)) throw missingPermission(rule.value.resource, action);
  }
  return { workspaceId, isOwner: subject.role === 'owner', may };
}

/** `workspace_id` is `workspaceId` in a message; the few other names are single words. */
export function workspaceIn(message: object, guard: Operation): string {
  const name = guard.workspaceField || 'workspaceId';
  const value: unknown = Reflect.get(message, name);
  return typeof value === 'string' ? value : '';
}

/**
 * Allows more than real ids, which are 20 letters and digits. Longer texts must not become keys of
 * a cache or a limit.
 */
const workspaceIdForm = /^[A-Za-z0-9_-]{1,64}$/;

/** An operation that needs no membership may have no workspace, but not an impossible one. */
function requireForm(workspaceId: string, guard: Operation): void {
  if (workspaceId === '' || workspaceIdForm.test(workspaceId)) return;
  const field = workspaceFieldOf(guard);
  throw invalidField(field, `${field} must be 1 to 64 letters, digits, hyphens and underscores`);
}

function workspaceFieldOf(guard: Operation): string {
  return guard.workspaceField || 'workspace_id';
}

const answersMax = 10_000;
const answerLifetimeMs = 1_000;

/**
 * Caches answers for a second: revoked access is refused within that time. A caller that comes
 * again within it does not wait for the next answer.
 */
export function cachedAuthorize(authorize: Authorize): Authorize {
  type Kept = Awaited<ReturnType<Authorize>>;
  const answers = createCache<Kept>({
    entriesMax: answersMax,
    keepMs: answerLifetimeMs,
    isRenewed: true,
  });
  return (userId, sessionId, workspaceId) =>
    answers(`${userId}/${sessionId}/${workspaceId}`, () =>
      authorize(userId, sessionId, workspaceId),
    );
}
