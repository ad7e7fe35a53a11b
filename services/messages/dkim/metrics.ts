import { seconds } from '#lib/telemetry/metrics.ts';

export const signingSeconds = seconds(
  'postrider_signing_duration_seconds',
  'Mails signed by DKIM, by the time from when they wait for a thread until they have their signatures.',
);
