import { setCurrentDetails } from '@temporalio/workflow';
import type { Build } from '../../services/contacts/segments/build/build.ts';

/** Shows operators how far the build is. The activity's heartbeat has the live number. */
export function tell(build: Build | null): void {
  setCurrentDetails(build ? tableOf(build) : 'No build of this segment is under way.');
}

function tableOf({ name, version, count, contacts }: Build): string {
  return [
    '| Segment | |',
    '|---|---|',
    `| Name | ${cell(name)} |`,
    `| Version | ${version} |`,
    `| Contacts looked at | ${count} of about ${contacts} |`,
  ].join('\n');
}

/** Texts of tenants must not break the table. */
function cell(text: string): string {
  return text.replace(/[|\r\n`<>[\]]/g, ' ');
}
