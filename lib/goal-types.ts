/** The types that the goal of a custom event may have. */
export const goalTypes: readonly string[] = [
  'purchase',
  'subscription',
  'lead',
  'signup',
  'booking',
  'trial',
  'other',
];
