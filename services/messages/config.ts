import { readEgress } from '#lib/outside/config.ts';
import { configReader } from '#lib/process/config.ts';
import { factConnections, outcomeConnections } from './store.ts';

const pool = { from: 1, to: 1_000 };

export const readConfig = configReader(
  { name: 'messages', peers: ['contacts', 'templates', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    /**
     * A folder on a disk that outlives the process; empty for no journal. Its path has at most 85
     * characters, as seen from the working directory.
     */
    journalFolder: variables.text('MESSAGES_JOURNAL', ''),
    /** Whether a database that was restored, or whose replica was promoted, is put on hold. */
    holdsRestored: variables.text('HOLD_ON_RESTORE', 'true') !== 'false',
    /**
     * The mail server for mail of the installation itself, which is not guarded; empty for no such
     * mail.
     */
    systemMailUrl: variables.secret('SYSTEM_SMTP_URL', ''),
    outcomeConnections: variables.integer('MESSAGES_OUTCOME_CONNECTIONS', outcomeConnections, pool),
    factConnections: variables.integer('MESSAGES_FACT_CONNECTIONS', factConnections, pool),
    systemMailFrom: variables.text('SYSTEM_MAIL_FROM', 'postrider@localhost'),
  }),
);
