import type { MailParts } from '../mime/mail.ts';
import type { ContentKeeper } from './keeper.ts';

/** The mails of a claim whose contents are kept if they are sent. */
export class UnderwayContents {
  readonly #keeper: ContentKeeper;
  readonly #workspaceId: string;
  readonly #mails = new Map<string, MailParts>();

  constructor(keeper: ContentKeeper, workspaceId: string) {
    this.#keeper = keeper;
    this.#workspaceId = workspaceId;
  }

  /** Renders as `prepare` does. */
  noting(id: string, prepare: () => MailParts): () => MailParts {
    return () => {
      const mail = prepare();
      this.#mails.set(id, mail);
      return mail;
    };
  }

  settle(id: string, isSent: boolean): void {
    const mail = this.#mails.get(id);
    this.#mails.delete(id);
    if (mail && isSent) this.#keeper.keep(this.#workspaceId, id, mail);
  }
}
