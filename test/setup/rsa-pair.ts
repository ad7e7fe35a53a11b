import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { ofWorker } from './shared.ts';

/** As many as a test has of one domain. */
const pairsMax = 5;

/** A pair for a key of DKIM. They serve in turn: to make one takes a core a third of a second. */
export function rsaPair(): KeyPairKeyObjectResult {
  const pairs = ofWorker<KeyPairKeyObjectResult[]>('RSA pairs', () => []);
  const known = pairs.length === pairsMax ? pairs.shift() : undefined;
  const pair = known ?? generateKeyPairSync('rsa', { modulusLength: 2_048 });
  pairs.push(pair);
  return pair;
}
