import type { ConnectError } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';

export function noProvider(): ConnectError {
  return refusal(
    'NO_EMAIL_PROVIDER',
    'no email provider configured for transactional notifications: workspaces.update sets it, by settings.transactional_email_provider_id',
  );
}
