import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Log } from '#lib/log.ts';
import type { MailCertificate } from '../smtp/certificate.ts';

/** Paths of PEM files. */
export type CertificateFiles = { cert: string; key: string };

export async function readCertificate({ cert, key }: CertificateFiles): Promise<MailCertificate> {
  const [certificate, privateKey] = await Promise.all([readFile(cert), readFile(key)]);
  const read = { cert: certificate, key: privateKey };
  // Throws where they do not belong together.
  createSecureContext(read);
  return read;
}

type Watch = {
  files: CertificateFiles;
  known: MailCertificate;
  log: Log;
  changed: (certificate: MailCertificate) => void;
  everyMs?: number;
};

/** Files in volumes are replaced as links, of which the system tells nothing. */
const lookEveryMs = 30_000;

/** Calls `changed` when the files have another certificate. Returns what ends this. */
export function watchCertificate({ files, log, changed, ...given }: Watch): () => void {
  let { known } = given;
  const look = async () => {
    try {
      const read = await readCertificate(files);
      if (String(read.cert) === String(known.cert) && String(read.key) === String(known.key))
        return;
      known = read;
      changed(read);
      log.info('the certificate was read again');
    } catch (error) {
      // The two files are replaced one after the other.
      log.warn({ err: error }, 'the certificate cannot be read; the one before stays');
    }
  };
  const timer = setInterval(() => void look(), given.everyMs ?? lookEveryMs).unref();
  return () => clearInterval(timer);
}
