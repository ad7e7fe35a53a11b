/** What the goal of a custom event may be. */
export const goalTypes: readonly string[] = [
  'purchase',
  'subscription',
  'lead',
  'signup',
  'booking',
  'trial',
  'other',
];
