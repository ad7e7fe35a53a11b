import {
  type SegmentLeaf,
  type SegmentNode,
  SegmentNodeKind,
  SegmentSource,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { isTimeZone } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { nodeFault, shown } from './fault.ts';
import { readTree } from './read-tree.ts';
import type { Tree } from './tree.ts';

/**
 * Reads the tree of a request. Refuses fields that a node's kind and source do not use: ignored,
 * they would leave the segment with more contacts than it says. Refuses zones that have no IANA
 * name. Stored trees may hold such things, from before they were refused.
 */
export function readGivenTree(root: SegmentNode | undefined, timezone: string): Tree {
  if (!isTimeZone(timezone)) throw invalidField('timezone', `invalid timezone: ${shown(timezone)}`);
  const tree = readTree(root, timezone);
  if (root) refuseUnread(root, 'tree');
  return tree;
}

function refuseUnread({ kind, branch, leaf }: SegmentNode, path: string): void {
  const isBranch = kind === SegmentNodeKind.BRANCH;
  if (isBranch ? leaf : branch) {
    const [own, other] = isBranch ? ['branch', 'leaf'] : ['leaf', 'branch'];
    throw nodeFault(`${path}.${other}`, `a node of kind '${own}' must have no '${other}'`);
  }
  if (leaf) refuseOthers(leaf, `${path}.leaf`);
  for (const [place, node] of (branch?.leaves ?? []).entries()) {
    refuseUnread(node, `${path}.branch.leaves[${place}]`);
  }
}

function refuseOthers(leaf: SegmentLeaf, path: string): void {
  const conditions = [
    ['contact', SegmentSource.CONTACTS, leaf.contact],
    ['contact_list', SegmentSource.CONTACT_LISTS, leaf.contactList],
    ['contact_timeline', SegmentSource.CONTACT_TIMELINE, leaf.contactTimeline],
    ['custom_events_goal', SegmentSource.CUSTOM_EVENTS_GOALS, leaf.customEventsGoal],
  ] as const;
  for (const [name, source, condition] of conditions) {
    if (condition && leaf.source !== source)
      throw nodeFault(`${path}.${name}`, 'the source of the leaf is another one');
  }
}
