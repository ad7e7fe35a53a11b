import { createHash, randomBytes } from 'node:crypto';
import type { ConnectError } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';

export const invitationDays = 7;

export function invitationNotFound(): ConnectError {
  return refusal('INVITATION_NOT_FOUND', 'Invitation not found');
}

/** Names its workspace, so that a look-up begins with it. */
export function newToken(workspaceId: string): string {
  return `${workspaceId}.${randomBytes(32).toString('base64url')}`;
}

export function workspaceOfToken(token: string): string {
  return token.slice(0, Math.max(0, token.indexOf('.')));
}

/** Tokens are too long to guess, so a plain digest is enough. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
