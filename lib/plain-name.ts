/** Separators within addresses and links, with the dots of other scripts. */
const joints = /[.:/\\@?#\u3002\uff0e\uff61]+(?=\S)/g;
const lengthMax = 255;

/**
 * A name that tenants choose, as one line in a mail of the installation: no mail program makes a
 * link of it.
 */
export function plainName(name: string): string {
  return name.replace(joints, ' ').replace(/\s+/g, ' ').trim().slice(0, lengthMax);
}
