import { describeVariables } from '#lib/config.ts';
import { required } from '#lib/env.ts';
import { unknownNames } from '../../deploy/postrider/unknown-variables.ts';
import type { VariableReader } from '../../scripts/variables/described.ts';
import type { Container } from './compose-file.ts';

/** Variables of the platform under ours. */
const ofOthers = ['NODE_ENV'];

/** Variables of our containers that nothing reads, and variables that their processes lack. */
export function misfits(
  containers: readonly Container[],
  readers: readonly VariableReader[],
): string[] {
  return containers
    .filter(({ isOurs }) => isOurs)
    .flatMap(({ name, command, environment }) => {
      const given = Object.keys(environment).filter((each) => !ofOthers.includes(each));
      const isGiven = (each: string) => given.includes(each) || given.includes(`${each}_FILE`);
      const [word = ''] = command;
      const reader = readers.find((each) => each.name === word.replace(/-worker$/, ''));
      const wanted = describeVariables(reader?.read ?? (() => {}))
        .filter(({ fallback }) => fallback === required)
        // Workers do not listen.
        .filter(({ name }) => !(word.endsWith('-worker') && name.endsWith('_PORT')));
      return [
        ...(reader ? [] : [`${name} runs ${word}, which has no settings`]),
        ...unknownNames(given).map((each) => `nothing reads ${each} of ${name}`),
        ...wanted
          .filter((each) => !isGiven(each.name))
          .map((each) => `${name} has no ${each.name}`),
      ];
    });
}
