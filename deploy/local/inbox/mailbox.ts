import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mail } from './mail.ts';
import { readSegment } from './segment.ts';

export type MailArrival = Omit<Mail, 'id'> & { raw: Buffer };
export type MailFilter = { to?: string; subject?: string; since?: string };

type Segment = { name: string; file: FileHandle; size: number; mails: number };
type Entry = { mail: Mail; segment: Segment; offset: number; length: number };
type Write = { arrival: MailArrival; done: () => void; failed: (error: unknown) => void };
type Limits = { mailsMax: number; bytesMax: number };

const segmentBytesMax = 32 * 1024 * 1024;
const batchMax = 500;

/** Stores the newest mails in append-only files, with an index in memory. */
export class InboxMailbox {
  readonly #folder: string;
  readonly #limits: Limits;
  #entries: Entry[] = [];
  #segments: Segment[] = [];
  #bytes = 0;
  #nextId = 1;
  #queue: Write[] = [];
  #writing: Promise<void> | undefined;

  private constructor(folder: string, limits: Limits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  static async open(folder: string, limits: Limits): Promise<InboxMailbox> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const box = new InboxMailbox(folder, limits);
    const names = (await readdir(folder)).filter((name) => /^\d{12}\.mails$/.test(name)).sort();
    for (const name of names) await box.#load(name);
    await box.#dropOldest();
    return box;
  }

  /** Resolves when the mail is written; concurrent mails share a write. */
  add(arrival: MailArrival): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ arrival, done: resolve, failed: reject });
    this.#writing ??= this.#drain();
    return promise;
  }

  /** Newest first. */
  find(filter: MailFilter): Mail[] {
    const to = filter.to?.trim().toLowerCase() ?? '';
    const subject = filter.subject?.trim().toLowerCase() ?? '';
    const since = filter.since ?? '';
    const found = this.#entries.filter(
      ({ mail }) =>
        mail.to.some((address) => address.toLowerCase().includes(to)) &&
        mail.subject.toLowerCase().includes(subject) &&
        mail.receivedAt >= since,
    );
    return found.map(({ mail }) => mail).reverse();
  }

  async read(id: number): Promise<{ mail: Mail; raw: Buffer } | undefined> {
    const entry = this.#entries.find(({ mail }) => mail.id === id);
    if (entry === undefined) return undefined;
    const raw = Buffer.alloc(entry.length);
    await entry.segment.file.read(raw, 0, entry.length, entry.offset);
    return { mail: entry.mail, raw };
  }

  async clear(): Promise<void> {
    await this.#writing;
    this.#entries = [];
    this.#bytes = 0;
    for (const segment of this.#segments.splice(0)) await this.#remove(segment);
  }

  async close(): Promise<void> {
    await this.#writing;
    for (const { file } of this.#segments) await file.close();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchMax);
      try {
        await this.#append(batch.map(({ arrival }) => arrival));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.#writing = undefined;
  }

  async #append(arrivals: MailArrival[]): Promise<void> {
    const segment = await this.#segmentForWriting();
    const pieces: Buffer[] = [];
    const entries: Entry[] = [];
    let end = segment.size;
    for (const { raw, ...rest } of arrivals) {
      const mail = { id: this.#nextId++, ...rest };
      const head = Buffer.from(`${JSON.stringify({ mail, length: raw.length })}\n`);
      pieces.push(head, raw, Buffer.from('\n'));
      entries.push({ mail, segment, offset: end + head.length, length: raw.length });
      end += head.length + raw.length + 1;
    }
    const bytes = Buffer.concat(pieces);
    await segment.file.write(bytes, 0, bytes.length, segment.size);
    segment.size = end;
    this.#keep(entries);
    await this.#dropOldest();
  }

  #keep(entries: Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry);
      entry.segment.mails += 1;
      this.#bytes += entry.length;
    }
  }

  async #segmentForWriting(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last && last.size < segmentBytesMax) return last;
    const name = `${String(this.#nextId).padStart(12, '0')}.mails`;
    const file = await open(join(this.#folder, name), 'w+', 0o600);
    const segment = { name, file, size: 0, mails: 0 };
    this.#segments.push(segment);
    return segment;
  }

  async #dropOldest(): Promise<void> {
    const { mailsMax, bytesMax } = this.#limits;
    let dropped = 0;
    while (this.#entries.length - dropped > mailsMax || this.#bytes > bytesMax) {
      const entry = this.#entries[dropped++];
      if (entry === undefined) break;
      this.#bytes -= entry.length;
      entry.segment.mails -= 1;
    }
    this.#entries.splice(0, dropped);
    while (this.#segments.length > 1 && this.#segments[0]?.mails === 0) {
      const [empty] = this.#segments.splice(0, 1);
      if (empty) await this.#remove(empty);
    }
  }

  async #remove({ name, file }: Segment): Promise<void> {
    await file.close();
    await rm(join(this.#folder, name), { force: true });
  }

  async #load(name: string): Promise<void> {
    const path = join(this.#folder, name);
    const segment: Segment = { name, file: await open(path, 'r+'), size: 0, mails: 0 };
    const { records, size } = await readSegment(segment.file);
    segment.size = size;
    this.#segments.push(segment);
    this.#keep(records.map((record) => ({ ...record, segment })));
    this.#nextId = Math.max(this.#nextId, (records.at(-1)?.mail.id ?? 0) + 1);
  }
}
