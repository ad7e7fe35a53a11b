/** The entry of a mail in the index; the mail itself stays on disk. */
export type Mail = {
  id: number;
  to: string[];
  from: string;
  subject: string;
  messageId: string;
  receivedAt: string;
};
