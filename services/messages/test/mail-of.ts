import { compileStructure, type StructureRequest } from '#lib/mail/structure.ts';
import type { MailParts } from '../mime/mail.ts';
import type { MailRecipient } from '../render/compose.ts';
import type { Program } from '../render/program.ts';
import type { RenderThread } from '../render/thread.ts';

/** A mail as a delivery makes it; what is slow needs the thread. */
export async function mailOf(
  program: Program,
  recipient: MailRecipient,
  thread?: RenderThread,
): Promise<MailParts> {
  if (program.slow) {
    if (!thread) throw new Error('the mail is rendered in a thread');
    return program.compose(recipient, await thread.render(program.slow, program.scope(recipient)));
  }
  const compile = (request: StructureRequest) =>
    thread ? thread.compile(request) : compileStructure(request);
  const write = await program.draftAndCompile(recipient, compile);
  return write();
}
