import {
  contentOf,
  MAX_TEXT_CHARACTERS,
  textOf,
  type MimePart,
} from '../../../../protocols/mail/mime.ts'
import { decodeBytes } from '../../../../protocols/mail/mime-header.ts'
import {
  failed,
  listed,
  notChecked,
  passed,
  quoted,
  type MailCheck,
  type Outcome,
} from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'
import { listZipEntries } from './zip-entries.ts'

const group = 'structure' as const

function checkVersion({ values }: MailFacts): Outcome {
  const usesMime = ['content-type', 'content-transfer-encoding'].some(
    (name) => values(name).length > 0,
  )
  if (!usesMime) return passed('The mail is plain text without MIME.')
  const [version] = values('mime-version')
  if (version === undefined)
    return failed('Content-Type is there, MIME-Version is missing.', 'Add “MIME-Version: 1.0”.')
  return /^\s*1\s*\.\s*0\b/.test(version.replaceAll(/\([^()]*\)/g, ''))
    ? passed('MIME-Version is 1.0.')
    : failed(`MIME-Version is ${quoted(version)}.`, 'Write “MIME-Version: 1.0”.')
}

function checkParts({ mime: { faults, isCut, leaves } }: MailFacts): Outcome {
  if (isCut)
    return failed(
      'The mail nests its parts too deeply, or has more than 300.',
      'Send fewer parts: scanners give up on such mail.',
    )
  if (faults.length > 0)
    return failed(
      listed(faults, 3),
      'Let a library write the parts; do not put them together by hand.',
    )
  return passed(`${leaves.length} ${leaves.length === 1 ? 'part was' : 'parts were'} read.`)
}

function longestLine(text: string): number {
  let longest = 0
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n', at)
    const stop = end < 0 ? text.length : end
    longest = Math.max(longest, stop - at)
    at = stop + 2
  }
  return longest
}

function checkLineLength({ message: { body } }: MailFacts): Outcome {
  const longest = longestLine(body)
  if (longest <= 998) return passed(`The longest line has ${longest} characters.`)
  return failed(
    `A line of the body has ${longest.toLocaleString('en')} characters.`,
    'Send the text as quoted-printable or base64. Servers on the way break long lines, which breaks DKIM.',
  )
}

function checkLineEnds({ mail: { bytes, origin } }: MailFacts): Outcome {
  let bareLf = 0
  let bareCr = 0
  let pairs = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1))
    if (bytes[at - 1] === 13) pairs++
    else bareLf++
  for (let at = bytes.indexOf(13); at >= 0; at = bytes.indexOf(13, at + 1))
    if (bytes[at + 1] !== 10) bareCr++
  if (origin !== 'smtp' && pairs === 0)
    return notChecked('The file has the line ends of this computer, not those of the transfer.')
  if (bareLf + bareCr === 0) return passed('All lines end with CRLF.')
  return failed(
    `${bareLf + bareCr} lines end with a bare ${bareCr > 0 ? 'CR' : 'LF'}.`,
    'Write CRLF at the end of each line: several servers reject bare line ends since SMTP smuggling.',
  )
}

function checkNul({ mail: { bytes } }: MailFacts): Outcome {
  return bytes.includes(0)
    ? failed('The mail contains NUL bytes.', 'Encode binary content as base64.')
    : passed('The mail contains no NUL bytes.')
}

const isText = ({ type }: MimePart) => type === 'text/plain' || type === 'text/html'

function checkCharset({ mime: { leaves } }: MailFacts): Outcome {
  const texts = leaves.filter(isText)
  const wrong = texts.flatMap((part) => charsetFault(part) ?? [])
  if (wrong.length > 0)
    return failed(listed(wrong, 3), 'Send text as UTF-8, and say so: charset=utf-8.')
  const charsets = texts.map(
    ({ parameters }) => parameters.get('charset')?.toLowerCase() ?? 'us-ascii',
  )
  return passed(`Charsets: ${listed([...new Set(charsets)]) || 'none'}.`)
}

function charsetFault(part: MimePart): string | null {
  const charset = part.parameters.get('charset')
  const bytes = contentOf(part)
  const isEightBit = bytes.some((byte) => byte > 0x7f)
  if (charset === undefined)
    return isEightBit ? `A ${part.type} part has characters beyond ASCII, but no charset.` : null
  if (decodeBytes(new Uint8Array(), charset) === null)
    return `The charset ${quoted(charset)} is not known.`
  if (/^(?:us-)?ascii$/i.test(charset))
    return isEightBit ? `A ${part.type} part says us-ascii, but has other characters.` : null
  if (!/^utf-?8$/i.test(charset) || part.body.length > MAX_TEXT_CHARACTERS) return null
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return null
  } catch {
    return `A ${part.type} part says utf-8, but has bytes that are not.`
  }
}

const ENCODINGS = new Set(['7bit', '8bit', 'binary', 'base64', 'quoted-printable'])

function checkEncoding({ mime: { leaves, root } }: MailFacts): Outcome {
  const wrong = [root, ...leaves].flatMap((part) => encodingFault(part) ?? [])
  if (wrong.length === 0) return passed('The transfer encodings are valid.')
  return failed(
    listed([...new Set(wrong)], 3),
    'Let the library that writes the mail choose quoted-printable or base64.',
  )
}

function encodingFault({ encoding, type, body, parts }: MimePart): string | null {
  if (!ENCODINGS.has(encoding)) return `The transfer encoding ${quoted(encoding)} is not known.`
  if (parts.length > 0)
    return encoding === 'base64' || encoding === 'quoted-printable'
      ? `A ${type} part must not have the transfer encoding ${encoding}.`
      : null
  const sample = body.slice(0, MAX_TEXT_CHARACTERS)
  // oxlint-disable-next-line no-control-regex
  const isEightBit = /[^\0-\x7f]/.test(sample)
  if (encoding === '7bit')
    return isEightBit ? `A ${type} part says 7bit, but has bytes beyond ASCII.` : null
  if (encoding === 'base64')
    return /[^a-zA-Z\d+/=\s]/.test(sample) ? `A ${type} part is not valid base64.` : null
  if (
    encoding === 'quoted-printable' &&
    (isEightBit || /=(?![\da-fA-F]{2}|[ \t]*\r\n|$)/.test(sample))
  )
    return `A ${type} part is not valid quoted-printable.`
  return null
}

const MAX_ENCODED_LINE = 76

function checkEncodedLines({ mime: { leaves } }: MailFacts): Outcome {
  const encoded = leaves.filter(({ encoding }) => /^(?:base64|quoted-printable)$/.test(encoding))
  const long = encoded.find(({ body }) => longestLine(body) > MAX_ENCODED_LINE)
  if (!long) return passed('No encoded line is longer than 76 characters.')
  return failed(
    `A ${long.type} part in ${long.encoding} has a line of ${longestLine(long.body).toLocaleString('en')} characters.`,
    'Break encoded lines after 76 characters: update the library that writes the mail, or report it there.',
  )
}

function checkTextPart({ htmlPart, textPart }: MailFacts): Outcome {
  if (!htmlPart) return passed('The mail is plain text.')
  if (textPart) return passed('The mail has a text beside its HTML.')
  return failed(
    'The mail is HTML only.',
    'Add a plain text with the same content (multipart/alternative).',
  )
}

/** The share of words of the HTML that the text must have. */
const MIN_COMMON_SHARE = 0.3
const MIN_WORDS = 10

function checkTextMatches({ html, textPart, text }: MailFacts): Outcome {
  if (!html || !textPart) return notChecked('The mail does not have both texts.')
  const wordsOf = (given: string) =>
    new Set(
      given
        .toLowerCase()
        .slice(0, 50_000)
        .match(/\p{L}{3,}/gu) ?? [],
    )
  const [shown, plain] = [wordsOf(html.text), wordsOf(text)]
  if (shown.size < MIN_WORDS) return passed('The HTML has few words.')
  const common = [...shown].filter((word) => plain.has(word)).length / shown.size
  if (common >= MIN_COMMON_SHARE) return passed('Text and HTML say the same.')
  return failed(
    `Text and HTML differ: ${Math.round(common * 100)}% of the words of the HTML are in the text.`,
    'Make the text from the HTML, so that both say the same.',
  )
}

/** Gmail blocks these. */
const EXECUTABLE =
  /\.(?:ade|adp|apk|appx|bat|cab|chm|cmd|com|cpl|dll|dmg|exe|hta|ins|isp|iso|jar|js|jse|lib|lnk|mde|msc|msi|msix|msp|mst|nsh|pif|ps1|scr|sct|shb|sys|vb|vbe|vbs|vhd|vxd|wsc|wsf|wsh|xll)$/i

function checkExecutables({ attachments }: MailFacts): Outcome {
  const names = attachments.flatMap((part) => [
    part.filename ?? '',
    ...(isZip(part) ? listZipEntries(contentOf(part, Infinity)).map(({ name }) => name) : []),
  ])
  const bad = names.filter((name) => EXECUTABLE.test(name.trim()))
  if (bad.length === 0)
    return passed(
      attachments.length === 0
        ? 'There are no attachments.'
        : `${attachments.length} attachments, none executable.`,
    )
  return failed(
    `${quoted(listed(bad))} is a program.`,
    'Send a link to the file instead. Gmail and Outlook reject programs, also in archives.',
  )
}

function checkEncrypted({ attachments }: MailFacts): Outcome {
  const archives = attachments.filter(isZip)
  const locked = archives.filter((part) =>
    listZipEntries(contentOf(part, Infinity)).some(({ isEncrypted }) => isEncrypted),
  )
  if (locked.length === 0) return passed('No attached archive is encrypted.')
  return failed(
    `${quoted(locked[0]?.filename ?? 'an archive')} is encrypted, so it cannot be scanned.`,
    'Send a link instead, or an archive without password.',
  )
}

function isZip({ filename, type }: MimePart): boolean {
  return (
    type === 'application/zip' ||
    type === 'application/x-zip-compressed' ||
    /\.zip$/i.test(filename ?? '')
  )
}

function checkMacros({ attachments }: MailFacts): Outcome {
  const bad = attachments.filter(
    ({ filename }) =>
      /\.(?:doc|xls|ppt|dot|xlt|xla|xlsb)m?$|\.(?:docm|xlsm|pptm|dotm|xltm|xlam|ppam|ppsm|sldm)$/i.test(
        filename ?? '',
      ) && /m$/i.test(filename ?? ''),
  )
  if (bad.length === 0) return passed('No attachment is an Office file with macros.')
  return failed(
    `${quoted(bad[0]?.filename ?? '')} may have macros.`,
    'Send the file as PDF, or without macros.',
  )
}

function checkDoubleExtension({ attachments }: MailFacts): Outcome {
  const bad = attachments.filter(({ filename }) =>
    /\.(?:pdf|docx?|xlsx?|jpe?g|png|txt)\s*\.\w{2,4}$/i.test(filename ?? ''),
  )
  if (bad.length === 0) return passed('No file name has two types.')
  return failed(`${quoted(bad[0]?.filename ?? '')} has two types.`, 'Give the file one ending.')
}

const MAX_HTML_BYTES = 102 * 1024

function checkHtmlSize({ htmlPart }: MailFacts): Outcome {
  if (!htmlPart) return passed('The mail has no HTML.')
  const size = contentOf(htmlPart).length
  const text = `The HTML has ${Math.ceil(size / 1024).toLocaleString('en')} kB.`
  return size <= MAX_HTML_BYTES
    ? passed(text)
    : failed(
        `${text} Gmail shows the first 102 kB.`,
        'Shorten the HTML: the unsubscribe link at the end is cut off.',
      )
}

const LARGE_MAIL_BYTES = 5 * 1024 * 1024

function checkSize({ mail: { bytes } }: MailFacts): Outcome {
  const text = `The mail has ${(bytes.length / 1024 / 1024).toFixed(1)} MB.`
  return bytes.length <= LARGE_MAIL_BYTES
    ? passed(text)
    : failed(
        text,
        'Link to large files instead of attaching them: many receivers limit mail to 10 MB, and filters skip large mail.',
      )
}

function checkEmpty({ html, text, attachments }: MailFacts): Outcome {
  const isEmpty =
    text.trim() === '' && (html?.text ?? '') === '' && (html?.images.length ?? 0) === 0
  if (!isEmpty) return passed('The mail has a text.')
  return failed(
    attachments.length > 0 ? 'The mail has attachments, but no text.' : 'The mail has no text.',
    'Write a text.',
  )
}

function checkDecodes({ textPart, htmlPart }: MailFacts): Outcome {
  const part = htmlPart ?? textPart
  if (!part) return notChecked('The mail has no text.')
  const text = textOf(part)
  const isMojibake = /Ã[\u0080-\u00BF¤¶¼Ÿ„–œ©¨]|â€[™œ“”]|Â[\u00A0°§]/.test(text)
  if (!isMojibake) return passed('The text has no wrongly encoded characters.')
  return failed(
    'The text has characters that were encoded twice, such as “Ã¼”.',
    'Read the template as UTF-8 before sending it.',
  )
}

export const STRUCTURE_CHECKS: MailCheck[] = [
  {
    id: 'mime-version',
    group,
    severity: 'hurts',
    title: 'MIME-Version',
    rule: 'A mail with parts says MIME-Version: 1.0.',
    source: 'RFC 2045, 4',
    run: checkVersion,
  },
  {
    id: 'mime-parts',
    group,
    severity: 'hurts',
    title: 'Parts',
    rule: 'The parts have boundaries that begin and end.',
    source: 'RFC 2046, 5.1',
    run: checkParts,
  },
  {
    id: 'body-line-length',
    group,
    severity: 'hurts',
    title: 'Length of lines',
    rule: 'No line is longer than 998 characters.',
    source: 'RFC 5322, 2.1.1',
    run: checkLineLength,
  },
  {
    id: 'line-ends',
    group,
    severity: 'hurts',
    title: 'Line ends',
    rule: 'Lines end with CRLF.',
    source: 'RFC 5321, 2.3.8',
    run: checkLineEnds,
  },
  {
    id: 'nul-bytes',
    group,
    severity: 'hurts',
    title: 'NUL bytes',
    rule: 'The mail contains no NUL bytes.',
    source: 'RFC 5322, 4',
    run: checkNul,
  },
  {
    id: 'charset',
    group,
    severity: 'hurts',
    title: 'Charset',
    rule: 'Texts name the charset that they are written in.',
    source: 'RFC 2046, 4.1.2',
    run: checkCharset,
  },
  {
    id: 'transfer-encoding',
    group,
    severity: 'hurts',
    title: 'Transfer encoding',
    rule: 'Parts are encoded as they say.',
    source: 'RFC 2045, 6',
    run: checkEncoding,
  },
  {
    id: 'encoded-line-length',
    group,
    severity: 'note',
    title: 'Length of encoded lines',
    rule: 'Lines in base64 and quoted-printable have up to 76 characters.',
    source: 'RFC 2045, 6.7 and 6.8',
    run: checkEncodedLines,
  },
  {
    id: 'double-encoding',
    group,
    severity: 'note',
    title: 'Special characters',
    rule: 'Special characters are readable.',
    source: 'RFC 3629',
    run: checkDecodes,
  },
  {
    id: 'text-part',
    group,
    severity: 'hurts',
    title: 'Plain text',
    rule: 'HTML comes with a plain text.',
    source: 'RFC 2046, 5.1.4',
    run: checkTextPart,
  },
  {
    id: 'text-matches',
    group,
    severity: 'hurts',
    title: 'Text and HTML',
    rule: 'Text and HTML say the same.',
    source: 'RFC 2046, 5.1.4',
    run: checkTextMatches,
  },
  {
    id: 'body-empty',
    group,
    severity: 'hurts',
    title: 'Text',
    rule: 'The mail has a text.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkEmpty,
  },
  {
    id: 'attachment-programs',
    group,
    severity: 'blocks',
    title: 'Programs',
    rule: 'No attachment is a program, also within an archive.',
    source: 'Gmail Help: File types blocked in Gmail',
    run: checkExecutables,
  },
  {
    id: 'attachment-encrypted',
    group,
    severity: 'hurts',
    title: 'Encrypted archives',
    rule: 'No attached archive is encrypted.',
    source: 'Gmail Help: File types blocked in Gmail',
    run: checkEncrypted,
  },
  {
    id: 'attachment-macros',
    group,
    severity: 'hurts',
    title: 'Macros',
    rule: 'No attachment is an Office file with macros.',
    source: 'Gmail Help: File types blocked in Gmail',
    run: checkMacros,
  },
  {
    id: 'attachment-names',
    group,
    severity: 'hurts',
    title: 'File names',
    rule: 'File names have one type.',
    source: 'M3AAWG Sender Best Common Practices',
    run: checkDoubleExtension,
  },
  {
    id: 'html-size',
    group,
    severity: 'note',
    title: 'Size of the HTML',
    rule: 'The HTML has up to 102 kB.',
    source: 'Gmail clips longer messages',
    run: checkHtmlSize,
  },
  {
    id: 'size',
    group,
    severity: 'note',
    title: 'Size',
    rule: 'The mail has up to 5 MB.',
    source: 'RFC 1870',
    run: checkSize,
  },
]
