/** The processes that sign tokens. */
export const services = [
  'gateway',
  'workspaces',
  'contacts',
  'templates',
  'broadcasts',
  'messages',
  'webhooks',
] as const;

/** The service that has the keys of each kind of box. */
export const boxOwners: Record<string, string> = {
  'workspace-secrets': 'workspaces',
  'feed-headers': 'broadcasts',
  'webhook-secrets': 'webhooks',
  'message-requests': 'messages',
  'message-contents': 'messages',
};

/** The processes that make and read the links of each purpose. */
export const macOwners: Record<string, readonly string[]> = {
  'postrider/tracking': ['messages', 'gateway'],
  'postrider/link-targets': ['messages', 'gateway'],
  'postrider/links': ['messages'],
  'postrider/broadcast-pages': ['broadcasts'],
  'postrider/sign-in-codes': ['workspaces'],
};
