import type { LiquidScope } from '#lib/liquid/engine.ts';
import type { MailRecipient } from '../render/compose.ts';
import type { SlowText, TextOverride } from '../render/overrides.ts';

export function hasSlowText({ options }: MailRecipient): boolean {
  return options?.subject?.kind === 'slow' || options?.previewLine?.kind === 'slow';
}

/**
 * Renders texts of a message's own in a thread where that may take long; its other texts stay as
 * they are.
 */
export async function withSlowTexts(
  render: (text: SlowText, scope: LiquidScope) => Promise<string>,
  recipient: MailRecipient,
  scopeOf: (recipient: MailRecipient) => LiquidScope,
): Promise<MailRecipient> {
  const { options } = recipient;
  if (!options || !hasSlowText(recipient)) return recipient;
  const { subject, previewLine } = options;
  const plain = { ...options, subject: undefined, previewLine: undefined };
  const scope = scopeOf({ ...recipient, options: plain });
  const settle = async (text: TextOverride | undefined): Promise<TextOverride | undefined> => {
    if (text?.kind !== 'slow') return text;
    return { kind: 'constant', text: await render(text.source, scope) };
  };
  const texts = { subject: await settle(subject), previewLine: await settle(previewLine) };
  return { ...recipient, options: { ...options, ...texts } };
}
