import type { Node, Tree } from '../tree/tree.ts';
import { leafSql } from './leaf.ts';
import { type Inputs, Statement } from './statement.ts';

/** A select's parts: what follows `from`, and for each tree SQL that is true of its contacts. */
export type CompiledTree = { from: string; matches: string[]; values: unknown[] };

/**
 * Compiles trees to the parts of one statement over `contacts contact`. A leaf that reads more than
 * columns of a contact is one grouped sub-select, joined once however many leaves are equal. Never
 * prepared by name: its plan depends on the values. A statement that is given goes on.
 */
export function compile(trees: readonly Tree[], given: Inputs | Statement): CompiledTree {
  const statement = given instanceof Statement ? given : new Statement(given);
  const where = `contact.workspace_id = ${statement.bind(statement.inputs.workspaceId)}
    and ${statement.inScope('contact.email')}`;
  const matches = trees.map(({ root, timezone }) => nodeSql(statement, root, timezone));
  const from = `contacts contact ${statement.joins.join('\n')} where ${where}`;
  return { from, matches, values: statement.values };
}

function nodeSql(statement: Statement, node: Node, zone: string): string {
  if (node.kind !== 'branch') return leafSql(statement, node, zone);
  const parts = node.nodes.map((each) => `(${nodeSql(statement, each, zone)})`);
  return parts.join(` ${node.operator} `) || 'true';
}
