import { TestMailVerdict } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import type { Context, Methods } from '../context.ts';
import { readTestMail } from '../domain-tests/store.ts';
import { noReturnPaths } from '../reports/mail/kept.ts';

const verdicts = {
  wanted: TestMailVerdict.WANTED,
  late: TestMailVerdict.LATE,
  refused: TestMailVerdict.REFUSED,
};

export function checkTestMail({ store, returnPaths }: Context): Methods['checkTestMail'] {
  return async ({ address, mark }) => {
    if (!returnPaths) throw noReturnPaths();
    const test = returnPaths.readTest(address);
    if (!test) return { verdict: TestMailVerdict.REFUSED };
    return { verdict: verdicts[await readTestMail(store.fork(), { ...test, mark })] };
  };
}
