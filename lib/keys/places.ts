import type { SealedPlace } from './keyring.ts';

// Places that two services must agree on: one seals, the other opens.

/** A header of a recipient feed, on its way from broadcasts to messages. */
export function headerPlace(workspaceId: string, broadcastId: string, name: string): SealedPlace {
  return { workspaceId, row: broadcastId, column: `header ${name.toLowerCase()}` };
}

/** The private half of a domain's key, on its way from workspaces to messages. */
export function signingKeyPlace(
  workspaceId: string,
  domain: string,
  selector: string,
): SealedPlace {
  return { workspaceId, row: `domain ${domain}`, column: selector };
}
