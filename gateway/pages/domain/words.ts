import {
  DomainKeyState,
  DomainRecordPurpose,
  DomainRecordState,
  DomainState,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';

type Tone = 'good' | 'bad' | 'warn' | 'quiet';
/** A state as people read it, and its colour. */
export type StateWords = { text: string; tone: Tone };

const purposeWords: Partial<Record<DomainRecordPurpose, string>> = {
  [DomainRecordPurpose.OWNERSHIP]: 'Ownership of the domain',
  [DomainRecordPurpose.DKIM]: 'Key that signs mails (DKIM)',
  [DomainRecordPurpose.RETURN_PATH]: 'Return path of mails',
  [DomainRecordPurpose.SPF]: 'Servers that may send (SPF)',
  [DomainRecordPurpose.DMARC]: 'Policy for receivers (DMARC)',
  [DomainRecordPurpose.TRACKING]: 'Host of links',
};

const recordWords: Partial<Record<DomainRecordState, StateWords>> = {
  [DomainRecordState.UNCHECKED]: { text: 'Not checked yet', tone: 'quiet' },
  [DomainRecordState.OK]: { text: 'In order', tone: 'good' },
  [DomainRecordState.MISSING]: { text: 'Missing', tone: 'bad' },
  [DomainRecordState.WRONG]: { text: 'Wrong', tone: 'bad' },
  [DomainRecordState.CONFLICT]: { text: 'Conflict', tone: 'bad' },
  [DomainRecordState.UNREACHABLE]: { text: 'No answer', tone: 'warn' },
};

const domainWords: Partial<Record<DomainState, StateWords>> = {
  [DomainState.PENDING]: { text: 'Not set up yet', tone: 'warn' },
  [DomainState.OK]: { text: 'In order', tone: 'good' },
  [DomainState.BROKEN]: { text: 'Broken', tone: 'bad' },
  [DomainState.HELD]: { text: 'Mails wait', tone: 'bad' },
};

const keyWords: Partial<Record<DomainKeyState, string>> = {
  [DomainKeyState.WAITING]: 'Waits for its record',
  [DomainKeyState.PUBLISHED]: 'Found; signs soon',
  [DomainKeyState.SIGNING]: 'Signs',
  [DomainKeyState.RETIRED]: 'Signs no more; keep its record for 7 days',
  [DomainKeyState.REVOKED]: 'Ended; its record may go',
};

const unknown: StateWords = { text: 'Unknown', tone: 'quiet' };

// A service of a later release may know more.
export const wordsOfPurpose = (purpose: DomainRecordPurpose) => purposeWords[purpose] ?? 'Record';
export const wordsOfRecord = (state: DomainRecordState) => recordWords[state] ?? unknown;
export const wordsOfDomain = (state: DomainState) => domainWords[state] ?? unknown;
export const wordsOfKey = (state: DomainKeyState) => keyWords[state] ?? unknown.text;
