import {
  type SegmentBranch,
  SegmentBranchOperator,
  type SegmentLeaf,
  type SegmentNode,
  SegmentNodeKind,
  SegmentSource,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { nodeFault } from './fault.ts';
import { readFields } from './read-filter.ts';
import { readGoalLeaf, readListLeaf, readTimelineLeaf } from './read-leaf.ts';
import type { Branch, Leaf, Node, Tree } from './tree.ts';

const levelsMax = 8;
const nodesMax = 50;

/** State of reading a tree: the zone of every node, and the count of nodes. */
type Reader = { zone: string; nodes: number };

/** Checks a tree and reads its values. Every error names the node at fault. */
export function readTree(root: SegmentNode | undefined, timezone: string): Tree {
  if (!root) throw invalidField('tree', 'tree is required');
  return {
    root: readNode(root, { path: 'tree', level: 1 }, { zone: timezone, nodes: 0 }),
    timezone,
  };
}

type NodePosition = { path: string; level: number };

function readNode(node: SegmentNode, { path, level }: NodePosition, reader: Reader): Node {
  reader.nodes += 1;
  if (level > levelsMax) throw nodeFault(path, `a tree has at most ${levelsMax} levels`);
  if (reader.nodes > nodesMax) throw nodeFault(path, `a tree has at most ${nodesMax} nodes`);
  switch (node.kind) {
    case SegmentNodeKind.BRANCH:
      if (!node.branch) throw nodeFault(path, "branch node must have 'branch' field");
      return readBranch(node.branch, { path: `${path}.branch`, level }, reader);
    case SegmentNodeKind.LEAF:
      if (!node.leaf) throw nodeFault(path, "leaf node must have 'leaf' field");
      return readLeaf(node.leaf, `${path}.leaf`, reader.zone);
    case SegmentNodeKind.UNSPECIFIED:
      throw nodeFault(`${path}.kind`, "tree node must have 'kind' field");
    default:
      throw nodeFault(`${path}.kind`, "invalid tree node kind (must be 'branch' or 'leaf')");
  }
}

const branchOperators: Readonly<Record<number, Branch['operator']>> = {
  [SegmentBranchOperator.AND]: 'and',
  [SegmentBranchOperator.OR]: 'or',
};

function readBranch(branch: SegmentBranch, { path, level }: NodePosition, reader: Reader): Branch {
  const operator = branchOperators[branch.operator];
  if (!operator) {
    throw nodeFault(`${path}.operator`, "invalid branch operator (must be 'and' or 'or')");
  }
  if (branch.leaves.length === 0) {
    throw nodeFault(`${path}.leaves`, 'branch must have at least one leaf');
  }
  const nodes = branch.leaves.map((leaf, place) =>
    readNode(leaf, { path: `${path}.leaves[${place}]`, level: level + 1 }, reader),
  );
  return { kind: 'branch', operator, nodes };
}

function readLeaf(leaf: SegmentLeaf, path: string, zone: string): Leaf {
  const missing = (name: string) =>
    nodeFault(path, `leaf with source '${sourceOf[name]}' must have '${name}' field`);
  switch (leaf.source) {
    case SegmentSource.CONTACTS:
      if (!leaf.contact) throw missing('contact');
      return readFields(leaf.contact, `${path}.contact`, zone);
    case SegmentSource.CONTACT_LISTS:
      if (!leaf.contactList) throw missing('contact_list');
      return readListLeaf(leaf.contactList, `${path}.contact_list`);
    case SegmentSource.CONTACT_TIMELINE:
      if (!leaf.contactTimeline) throw missing('contact_timeline');
      return readTimelineLeaf(leaf.contactTimeline, `${path}.contact_timeline`, zone);
    case SegmentSource.CUSTOM_EVENTS_GOALS:
      if (!leaf.customEventsGoal) throw missing('custom_events_goal');
      return readGoalLeaf(leaf.customEventsGoal, `${path}.custom_events_goal`, zone);
    case SegmentSource.UNSPECIFIED:
      throw nodeFault(`${path}.source`, "leaf must have 'source' field");
    default:
      throw nodeFault(
        `${path}.source`,
        "invalid source (must be 'contacts', 'contact_lists', 'contact_timeline', or 'custom_events_goals')",
      );
  }
}

const sourceOf: Readonly<Record<string, string>> = {
  contact: 'contacts',
  contact_list: 'contact_lists',
  contact_timeline: 'contact_timeline',
  custom_events_goal: 'custom_events_goals',
};
