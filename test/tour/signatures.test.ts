import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

/**
 * The functions of docs/guides/webhook-signatures.md and the steps of n8n-and-zapier.md, each in a
 * program that runs it once.
 */

const root = resolve(import.meta.dirname, '../..');
const client = join(root, 'clients/typescript');
const pageOf = (name: string) => readFileSync(join(root, 'docs/guides', name), 'utf8');
const page = pageOf('webhook-signatures.md');
const automation = pageOf('n8n-and-zapier.md');

type Language = {
  file: string;
  /** The code of the page; the first block in the language if absent. */
  block?: string;
  /** The program around the function; it ends with 0 if the function does not fail. */
  programOf: (block: string) => string;
  /** Compiles it, or what it imports. */
  build?: [command: string, ...args: string[]];
  run: [command: string, ...args: string[]];
  version: [command: string, ...args: string[]];
};

const languages: Record<string, Language> = {
  ts: {
    file: 'verify.ts',
    programOf: (block) => `import { readFileSync } from 'node:fs';
const { secret, headers, body } = JSON.parse(readFileSync('given.json', 'utf8'));
${block}
if (event.type !== 'contact.created') throw new Error('another event');`,
    build: ['tsc', '-p', client, '--outDir', 'node_modules/postrider/dist'],
    run: [process.execPath, 'verify.ts'],
    version: [process.execPath, '--version'],
  },
  python: {
    file: 'verify.py',
    programOf: (block) => `${block}
given = json.load(open("given.json"))
event = verify(given["secret"], given["headers"], given["body"].encode())
assert event["type"] == "contact.created"`,
    run: ['python3', 'verify.py'],
    version: ['python3', '--version'],
  },
  go: {
    file: 'verify.go',
    programOf: (block) => `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

${block}
func main() {
	var given struct {
		Secret, Body string
		Headers      map[string]string
	}
	text, _ := os.ReadFile("given.json")
	if err := json.Unmarshal(text, &given); err != nil {
		panic(err)
	}
	if err := verify(given.Secret, given.Headers, []byte(given.Body)); err != nil {
		panic(err)
	}
}`,
    build: ['go', 'build', '-o', 'verify', 'verify.go'],
    run: ['./verify'],
    version: ['go', 'version'],
  },
  java: {
    file: 'Verify.java',
    programOf: (block) => `import java.nio.file.*;
import java.security.*;
import java.time.*;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
${block}
    public static void main(String[] args) throws Exception {
        var headers = new HashMap<String, String>();
        for (var line : Files.readAllLines(Path.of("headers.txt"))) {
            var parts = line.split(": ", 2);
            headers.put(parts[0], parts[1]);
        }
        var secret = Files.readString(Path.of("secret.txt"));
        verify(secret, headers, Files.readAllBytes(Path.of("body.txt")));
    }
}`,
    build: ['javac', 'Verify.java'],
    run: ['java', 'Verify'],
    version: ['java', '--version'],
  },
  n8n: {
    file: 'verify.cjs',
    block: stepOf('n8n'),
    programOf: (
      block,
    ) => `const delivery = JSON.parse(require('fs').readFileSync('given.json', 'utf8'));
const $input = { first: () => ({ json: { headers: delivery.headers } }) };
const helpers = {
  getBinaryDataBuffer: async (item, name) => item === 0 && name === 'data' && Buffer.from(delivery.body),
};
async function step() {
${block.replace("'whsec_…'", 'delivery.secret')}}
step.call({ helpers }).then(([{ json }]) => process.exit(json.type === 'contact.created' ? 0 : 1));`,
    run: [process.execPath, 'verify.cjs'],
    version: [process.execPath, '--version'],
  },
  zapier: {
    file: 'verify.cjs',
    block: stepOf('Zapier'),
    programOf: (
      block,
    ) => `const given = JSON.parse(require('fs').readFileSync('given.json', 'utf8'));
const { secret, body, headers } = given;
const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => headers['webhook-' + name]);
const inputData = { secret, body, id, timestamp, signature };
async function step() {
${block}}
step().then((json) => process.exit(json.type === 'contact.created' ? 0 : 1));`,
    run: [process.execPath, 'verify.cjs'],
    version: [process.execPath, '--version'],
  },
  php: {
    file: 'verify.php',
    programOf: (block) => `<?php
${block}
$given = json_decode(file_get_contents('given.json'), true);
$event = verify($given['secret'], $given['headers'], $given['body']);
exit($event['type'] === 'contact.created' ? 0 : 1);`,
    run: ['php', 'verify.php'],
    version: ['php', '--version'],
  },
};

/** The first block of a page behind a pattern. */
function blockOf(text: string, before: string): string {
  return new RegExp(`${before}(.*?)\`\`\``, 's').exec(text)?.[1] ?? '';
}

function stepOf(heading: string): string {
  return blockOf(automation, `## ${heading}\\n.*?\`\`\`js\\n`);
}

const isHere = ({ version: [command, ...args] }: Language) =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const body = '{"type": "contact.created", "data": {"email": "jörg@example.com"}}';

function given({ at = new Date(), signedBody = body, secrets = [secret] } = {}) {
  const signatures = secrets.map((each) => new Webhook(each).sign('d1', at, signedBody));
  const headers = {
    'webhook-id': 'd1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
  return { secret, headers, body };
}

const minutes = (count: number) => new Date(Date.now() + count * 60_000);
const other = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;

/** Made as each is tried: the tests together take longer than the five minutes of a signature. */
const deliveries = {
  right: () => given(),
  'signed by two secrets': () => given({ secrets: [other, secret] }),
  changed: () => given({ signedBody: `${body} ` }),
  'of another secret': () => given({ secrets: [other] }),
  old: () => given({ at: minutes(-6) }),
  'of the future': () => given({ at: minutes(6) }),
};

function folderOf({ file, programOf, build }: Language, block: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-signatures-'));
  writeFileSync(join(folder, file), programOf(block));
  const installed = join(folder, 'node_modules/postrider');
  mkdirSync(installed, { recursive: true });
  cpSync(join(client, 'package.json'), join(installed, 'package.json'));
  if (build) expect(statusOf(build, folder)).toBe(0);
  return folder;
}

function statusOf([command, ...args]: Language['run'], cwd: string): number | null {
  return spawnSync(command, args, { cwd, env: { ...process.env, NODE_OPTIONS: '' } }).status;
}

function isTaken({ run }: Language, folder: string, delivery: ReturnType<typeof given>): boolean {
  writeFileSync(join(folder, 'given.json'), JSON.stringify(delivery));
  const lines = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}`);
  writeFileSync(join(folder, 'headers.txt'), lines.join('\n'));
  writeFileSync(join(folder, 'secret.txt'), delivery.secret);
  writeFileSync(join(folder, 'body.txt'), delivery.body);
  return statusOf(run, folder) === 0;
}

for (const [name, language] of Object.entries(languages)) {
  const run = isHere(language) ? test : test.skip;
  run(
    `the code for ${name} takes what is right, and nothing else`,
    () => {
      const block = language.block ?? blockOf(page, `\`\`\`${name}\\n`);
      const folder = folderOf(language, block);
      const taken = Object.entries(deliveries)
        .filter(([, delivery]) => isTaken(language, folder, delivery()))
        .map(([kind]) => kind);
      expect(taken).toEqual(['right', 'signed by two secrets']);
    },
    120_000,
  );
}
