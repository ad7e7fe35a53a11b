import { createHash } from 'node:crypto';
import type { Attachment } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { readContentType } from '../mime/content-type.ts';
import type { StoredFile } from './content.ts';

const filesMax = 20;
const fileMaxBytes = 3 * 1024 * 1024;
const filesMaxBytes = 10 * 1024 * 1024;
const nameLengthMax = 255;

/** Programs, and what a system runs when it is opened; mail providers refuse these. */
const programs = new Set(
  `ade adp apk app appx appxbundle asp aspx bas bat cab cer chm cmd cnt com cpl crt csh der diagcab dll dmg ex ex_ exe fxp gadget
   grp hlp hpj hta img inf ins iso isp its jnlp js jse ksh lib lnk mad maf mag mam maq mar mas mat mau mav maw mcf mda mdb mde mdt
   mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msix msixbundle msp mst nsh ops osd pcd pif pl plg prf prg printerexport
   ps1 ps1xml ps2 ps2xml psc1 psc2 psd1 psdm1 pssc pst reg scf scr sct shb shs sys theme tmp udl url vb vbe vbp vbs vhd vhdx vsmacros
   vsw vxd webpnp website ws wsb wsc wsf wsh xbap xll xnk`.split(/\s+/),
);

/** By extension; any other is `application/octet-stream`. */
const types: Record<string, string> = {
  csv: 'text/csv',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  vcf: 'text/vcard',
  webp: 'image/webp',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

export type CheckedFile = { stored: StoredFile; content: Buffer };

/** Checks files, and decodes them. Every fault is a 400 that names the field. */
export function checkFiles(files: readonly Attachment[], field: string): CheckedFile[] {
  if (files.length > filesMax) {
    throw fault(field, `maximum ${filesMax} attachments allowed, got ${files.length}`);
  }
  let total = 0;
  return files.map((file, index) => {
    const checked = checkFile(file, { field: `${field}[${index}]`, label: `attachment ${index}` });
    total += checked.content.length;
    if (total > filesMaxBytes) {
      throw fault(
        field,
        `total attachment size ${total} bytes exceeds maximum of ${filesMaxBytes} bytes (10MB)`,
      );
    }
    return checked;
  });
}

type FieldName = { field: string; label: string };

function checkFile(file: Attachment, { field, label }: FieldName): CheckedFile {
  const { filename, content, disposition: kind } = file;
  const wrong = nameFault(filename);
  if (wrong) throw fault(`${field}.filename`, `${label}: ${wrong}`);
  if (content === '') throw fault(`${field}.content`, `${label}: content is required`);
  const disposition = kind === '' ? 'attachment' : kind;
  if (disposition !== 'attachment' && disposition !== 'inline') {
    const text = `${label}: disposition must be 'attachment' or 'inline'`;
    throw fault(`${field}.disposition`, text);
  }
  const bytes = decoded(content);
  if (!bytes) throw fault(`${field}.content`, `${label}: content must be valid base64`);
  if (bytes.length > fileMaxBytes) {
    const text = `${label} (${filename}): size ${bytes.length} bytes exceeds maximum of ${fileMaxBytes} bytes (3MB)`;
    throw fault(`${field}.content`, text);
  }
  const content_id = disposition === 'inline' ? contentIdOf(file, { field, label }) : undefined;
  const stored = {
    filename,
    content_type: typeOf(file, { field, label }),
    disposition,
    ...(content_id !== undefined && { content_id }),
    size_bytes: bytes.length,
    checksum: createHash('sha256').update(bytes).digest('hex'),
  } as const;
  return { stored, content: bytes };
}

function fault(field: string, text: string) {
  return invalidField(field, `invalid attachments: ${text}`);
}

function nameFault(filename: string): string | undefined {
  if (filename === '') return 'filename is required';
  if ([...filename].length > nameLengthMax) return 'filename must be less than 255 characters';
  if (/[/\\]/.test(filename)) return 'filename must not contain path separators';
  if (/[\p{Cc}\u2028\u2029\u202e]/u.test(filename) || !filename.isWellFormed()) {
    return 'filename must not contain control characters';
  }
  const extension = extensionOf(filename);
  if (!programs.has(extension)) return undefined;
  return `file extension .${extension} is not supported by email service providers`;
}

/** Systems ignore dots and spaces at the end of a name. */
function extensionOf(filename: string): string {
  const name = filename.replace(/[. ]{1,255}$/, '').toLowerCase();
  return name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : '';
}

/** Undefined where it is no base64. Line breaks, as some libraries write them, are taken. */
function decoded(content: string): Buffer | undefined {
  const plain = /[\r\n]/.test(content) ? content.replace(/[\r\n]/g, '') : content;
  const bytes = Buffer.from(plain, 'base64');
  const padding = /={0,2}$/.exec(plain)?.[0].length ?? 0;
  // The decoder skips what is no base64, and stops at padding.
  const isWhole = bytes.length === Math.floor(((plain.length - padding) * 3) / 4);
  return isWhole && /^[A-Za-z0-9+/_-]*={0,2}$/.test(plain) ? bytes : undefined;
}

function typeOf({ contentType, filename }: Attachment, { field, label }: FieldName): string {
  if (contentType === '') return types[extensionOf(filename)] ?? 'application/octet-stream';
  const read = readContentType(contentType);
  if ('type' in read) return read.type;
  throw fault(`${field}.content_type`, `${label}: content_type ${read.fault}`);
}

function contentIdOf({ contentId, filename }: Attachment, { field, label }: FieldName): string {
  if (contentId === '') return filename.replace(/[^A-Za-z0-9._@+-]/g, '_');
  if (/^[A-Za-z0-9._@+-]{1,255}$/.test(contentId)) return contentId;
  const text = `${label}: content_id must be 1 to 255 letters, digits, dots, hyphens, underscores, @ and +`;
  throw fault(`${field}.content_id`, text);
}
