import { infoLength, type SendOutcome } from '../providers/outcome.ts';
import type { Outgoing } from '../providers/outgoing.ts';

type Steps = Pick<Outgoing, 'prepare' | 'settle'>;

/** Puts the note of a mail that was sent before the reply of the server. */
export function noted({ prepare, settle }: Steps): Steps {
  let note = '';
  return {
    prepare() {
      const mail = prepare();
      note = mail.note ?? '';
      return mail;
    },
    settle: (outcome) => settle(note === '' ? outcome : withNote(outcome, note)),
  };
}

function withNote(outcome: SendOutcome, note: string): SendOutcome {
  if (outcome.kind !== 'accepted') return outcome;
  const info = outcome.info === '' ? note : `${note}; ${outcome.info}`;
  return { ...outcome, info: info.slice(0, infoLength) };
}
