import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseYaml } from '@redocly/openapi-core';

type Service = { logging?: { options?: Record<string, string> } };

test('no container of compose.yaml fills the disk with its log', () => {
  const text = readFileSync(join(import.meta.dirname, 'compose.yaml'), 'utf8');
  const { services } = parseYaml(text) as { services: Record<string, Service> };
  const limits = Object.entries(services).map(([name, { logging }]) => [name, logging?.options]);
  expect(limits.length).toBeGreaterThan(15);
  const bounded = limits.map(([name]) => [name, { 'max-size': '20m', 'max-file': '5' }]);
  expect(limits).toEqual(bounded);
});
