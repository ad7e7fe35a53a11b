import { refusal } from '#lib/errors/reasons.ts';
import { onlySecretOf02 } from '#lib/providers/all.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';

export function resealPasswords({ keyring }: Context): Methods['resealPasswords'] {
  return async ({ workspaceId, passwords }, call) => {
    if (callerOf(call).subject !== 'workspaces') {
      throw refusal('SERVICES_ONLY', 'only workspaces may call this');
    }
    const sealed = passwords.map(({ integrationId, sealed, secret }) => {
      const place = secretPlace({ workspaceId, integrationId }, secret || onlySecretOf02);
      try {
        return keyring.letters.seal(keyring.letters.open(sealed, place), place);
      } catch {
        return '';
      }
    });
    return { sealed };
  };
}
