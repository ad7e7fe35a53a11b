import { create } from '@bufbuild/protobuf';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { providersAt } from '../../providers/all.ts';
import type { Sender, SenderHost } from '../../providers/provider.ts';
import { closing } from '../given-pool.ts';
import { type FakeKind, fakeKinds } from './kinds.ts';
import { type FakeProvider, startFakeProvider } from './server.ts';

export type KindName = keyof typeof fakeKinds;
export const kindNames = Object.keys(fakeKinds) as KindName[];

const resolve = async () => ({ address: '127.0.0.1', family: 4 as const });

/** A sender of the kind, to an origin. */
export function senderAt(name: KindName, origin: string, host?: Partial<SenderHost>): Sender {
  const provider = providersAt({ [name]: origin }).find(({ kind }) => kind === name)!;
  const settings = create(EmailProviderSchema, fakeKinds[name].settings);
  const sender = provider.transport(settings).open({ resolve, ...host });
  closing.push(() => sender.close());
  return sender;
}

/** A provider of the kind, for one test. */
export async function givenFake(
  name: KindName,
): Promise<FakeProvider & { kind: FakeKind; open: (host?: Partial<SenderHost>) => Sender }> {
  const kind: FakeKind = fakeKinds[name];
  const fake = await startFakeProvider(kind);
  closing.push(() => fake.close());
  return Object.assign(fake, {
    kind,
    open: (host?: Partial<SenderHost>) => senderAt(name, fake.origin, host),
  });
}
